/// When and how runs start by themselves.
extension OptionTable {
    static let scheduleRows: [OptionSpecification] = [
        OptionSpecification(.pull, .schedule, "schedule a pull"),
        OptionSpecification(.push, .schedule, "schedule a push"),
        OptionSpecification(.sync, .schedule, "schedule a sync"),
        OptionSpecification(
            .every,
            value: .text("TIME"),
            .schedule,
            "run at this interval, such as 15m, 1h or 1d"
        ),
        OptionSpecification(
            .settle,
            value: .text("TIME"),
            .schedule,
            "push a path once it has not changed for TIME (default 5s)"
        ),
        OptionSpecification(
            .daily,
            value: .text("HH:MM"),
            .schedule,
            "run every day at HH:MM, local time"
        ),
        OptionSpecification(.install, .schedule, "install or replace the schedule"),
        OptionSpecification(.remove, .schedule, "remove the schedule"),
        OptionSpecification(.list, .schedule, "list the schedules of this user"),
        OptionSpecification(.test, .schedule, "start the run now, in the same way as the schedule"),
        OptionSpecification(
            .format,
            value: .choice(ScheduleFormat.allCases.map(\.rawValue)),
            .schedule,
            "the system that starts the run (default systemd, or cron if there is no systemctl)"
        ),
    ]
}
