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
            "start every TIME, such as 15m, 1h or 1d"
        ),
        OptionSpecification(
            .settle,
            value: .text("TIME"),
            .schedule,
            "push what has not changed for TIME (default 5s)"
        ),
        OptionSpecification(
            .daily,
            value: .text("HH:MM"),
            .schedule,
            "start every day at HH:MM, local time"
        ),
        OptionSpecification(.install, .schedule, "install the schedule, or replace an older one"),
        OptionSpecification(.remove, .schedule, "remove the schedule"),
        OptionSpecification(.list, .schedule, "list the schedules of this user"),
        OptionSpecification(.test, .schedule, "start the run now, as the schedule does"),
        OptionSpecification(
            .format,
            value: .choice(ScheduleFormat.allCases.map(\.rawValue)),
            .schedule,
            "what starts the run (default systemd, or cron where there is no systemctl)"
        ),
    ]
}
