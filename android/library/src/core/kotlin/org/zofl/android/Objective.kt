package org.zofl.android

/** What an app implements: its loss, one at a time ([Loss]) or all of a step in one call ([BatchLoss]). */
sealed interface Objective

/**
 * The loss at the parameters that [RoundView.read] gives. Background threads call it, one
 * call at a time. Whatever it throws, or NaN, costs only this round's contribution: class,
 * message and stack reach [Progress.fault] and the log.
 */
fun interface Loss : Objective {
    fun loss(round: RoundView): Double
}

/**
 * The losses of all probes of a local step, for engines that take several points in one call
 * or that are slow to load one. It calls [StepView.loss] for each probe; a probe without a
 * loss costs the round. Threads and exceptions are as for [Loss].
 */
fun interface BatchLoss : Objective {
    fun losses(step: StepView)
}

/**
 * Measures the model on data that nobody trains on, for the coordinator, if the plan has
 * metrics. Background threads call it rarely, and not on every device. After an exception
 * nothing is reported.
 */
fun interface Evaluator {
    /** Calls metric for each of the plan's metrics, in the plan's order, and samples once. */
    fun evaluate(evaluation: EvaluationView)
}
