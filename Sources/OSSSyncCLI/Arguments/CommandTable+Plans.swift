/// The command that carries out a saved plan.
extension CommandTable {
    static let apply = CommandSpecification(
        name: .apply,
        arguments: [ArgumentSpecification(name: "FILE", isOptional: false)],
        summary: "carry out a plan that --save-plan saved",
        discussion: [
            "Compares both sides again and does what is in the plan and nothing else: an item only "
                + "if the same would be done now, for the same reasons. An item that changed here "
                + "or in the bucket since is reported as failed, and nothing is done about it. "
                + "All checks of deletions apply.",
            "The directory, the paths and the options of the run are those of the plan. An "
                + "interrupted apply resumes when it is run again; what is done already counts as "
                + "unchanged.",
        ],
        options: [
            .ifLocked, .jobs, .bandwidthLimit, .maximumTransfer, .maximumDuration, .progress,
            .color, .jsonInterval, .logFile, .metricsFile, .notifyURL, .notifyOn,
        ] + commonOptions,
        examples: [
            ("osssync push --delete --save-plan photos.plan ~/Photos", "save what would be done"),
            ("osssync apply photos.plan", "do it"),
        ]
    )

    /// The options that a plan keeps: those that decide what is done, and which remote is meant.
    static let plannedOptions: [Option] =
        [
            .delete, .deleteExtra, .deleteExcluded, .maxDelete, .allowEmpty, .force, .onConflict,
            .checksum, .links, .names, .noMetadata, .emptyDirectories, .noEmptyDirectories,
            .trashDays, .trash, .backupDirectory, .partSize, .stateDirectory,
        ] + filterOptions + propertyOptions + linkOptions
}
