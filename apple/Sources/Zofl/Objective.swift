/// What a device is asked for. Background threads call it, one call at a time. Whatever it
/// throws, or NaN, costs only this round's contribution: ``Device/Progress/fault`` has the error.
public enum Objective {
    /// The loss at the parameters that ``Round/read(_:into:)`` gives.
    case loss((Round) throws -> Double)

    /// The losses of all probes of a local step, for engines that take several points in one
    /// call. It calls ``Step/setLoss(_:of:)`` for each; a probe without a loss costs the round.
    case batch((Step) throws -> Void)
}

/// Measures the model on data that nobody trains on, if the plan has metrics. It adds each
/// metric in the plan's order, and sets the number of samples once.
public typealias Evaluator = (Evaluation) throws -> Void
