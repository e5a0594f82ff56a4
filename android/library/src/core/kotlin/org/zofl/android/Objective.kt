package org.zofl.android

/** What an app implements: its [Loss]. */
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
 * Measures the model on data that nobody trains on, for the coordinator, if the plan has
 * metrics. Background threads call it rarely, and not on every device. After an exception
 * nothing is reported.
 */
fun interface Evaluator {
    /** Calls metric for each of the plan's metrics, in the plan's order, and samples once. */
    fun evaluate(evaluation: EvaluationView)
}

/** A task that a callback is asked to do. It is valid until the callback returns. */
interface WorkView {
    /** Number of parameters. */
    val dim: Int

    /** Whether the result is no longer needed: return anything, soon. */
    val cancelled: Boolean
}

/** Parameters that a callback may read, until it returns. */
interface ParameterView : WorkView {
    /** Writes parameters from [offset] into [into], little-endian float32; returns how many. */
    fun read(offset: Int, into: ByteArray): Int
}

/** The minibatch that losses are computed on. */
interface MinibatchView : WorkView {
    /** The record that this round will make. */
    val record: Long

    /** Local step within the round, from 0. */
    val step: Int

    /** Number of samples in the minibatch; 0 for all of the device's samples. */
    val batchSize: Int

    /** Seed of the minibatch: the same for all losses that are compared with each other. */
    val batchSeed: Long
}

/** One call of [Loss]. */
interface RoundView : ParameterView, MinibatchView

/** One measurement of the model. */
interface EvaluationView : ParameterView {
    /** Adds the value of the plan's next metric: finite, the mean over the samples that [samples] counts. */
    fun metric(value: Double)

    /** Sets how many samples the metrics are means over, at least 1. */
    fun samples(n: Int)
}
