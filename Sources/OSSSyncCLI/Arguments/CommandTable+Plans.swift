/// The command that carries out a saved plan.
extension CommandTable {
    static let apply = CommandSpecification(
        name: .apply,
        arguments: [ArgumentSpecification(name: "FILE", isOptional: false)],
        summary: "carry out a plan that --save-plan saved",
        discussion: [
            "Compares both sides again, and carries out only items of the plan, and only if a run "
                + "would still do the same for the same reasons. An item that changed here or in "
                + "the bucket since is reported as failed and not carried out. All checks of "
                + "deletions apply.",
            "The plan contains the directory, the paths and the options of the run. An interrupted "
                + "apply resumes when it is run again; items that are already done count as "
                + "unchanged.",
        ],
        options: [
            .ifLocked, .jobs, .bandwidthLimit, .maximumTransfer, .maximumDuration, .progress,
            .color, .jsonInterval, .logFile, .metricsFile, .notifyURL, .notifyOn,
        ] + commonOptions,
        examples: [
            ("osssync push --delete --save-plan photos.plan ~/Photos", "save a plan"),
            ("osssync apply photos.plan", "carry it out"),
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
