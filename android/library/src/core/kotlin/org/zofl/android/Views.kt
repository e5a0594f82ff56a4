package org.zofl.android

import java.nio.ByteBuffer
import kotlin.time.Duration

/** A task that a callback is asked to do. It is valid until the callback returns. */
interface WorkView {
    /** Number of parameters. */
    val dim: Int

    /** Whether the result is no longer needed: return anything, soon. */
    val cancelled: Boolean

    /** How long the result is still needed; zero once it is not. */
    val remaining: Duration

    /** The plan's segments, in their order; a plan without any has one, `all`. See [named]. */
    val segments: List<Segment>

    /** The scale of all devices' columns, in a run whose plan has columns. */
    val scaler: Scaler? get() = null
}

/**
 * Parameters that a callback may read, until it returns: into an array, or in place into a direct
 * buffer, `ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder())`, which engines take
 * without another copy. A buffer is filled from its position to its limit, and neither moves. One
 * that cannot be used is an exception whose message begins with `config`. A fake in an app's tests
 * need not have the functions for buffers.
 */
interface ParameterView : WorkView {
    /** Writes parameters from [offset] into [into], little-endian float32; returns how many. */
    fun read(offset: Int, into: ByteArray): Int

    /** The same in place. */
    fun read(offset: Int, into: ByteBuffer): Int =
        copied(into) { read(offset, it) }

    /**
     * [read] for an engine that takes float16: IEEE binary16, little-endian, 2 bytes a parameter.
     * Each is rounded to the nearest, of two the even one; from 65520 on it becomes infinite.
     */
    fun readHalf(offset: Int, into: ByteArray): Int

    /** The same in place. */
    fun readHalf(offset: Int, into: ByteBuffer): Int =
        copied(into) { readHalf(offset, it) }

    /**
     * [read] for an engine that takes int8: the nearest multiples of [scale], from -127 to 127
     * times, a byte each. [scale] is positive and finite; `127 * scale` is the largest parameter
     * that is not cut.
     */
    fun readInt8(offset: Int, scale: Double, into: ByteArray): Int

    /** The same in place. */
    fun readInt8(offset: Int, scale: Double, into: ByteBuffer): Int =
        copied(into) { readInt8(offset, scale, it) }
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

/** One call of [BatchLoss]: [probes] points, all on the same minibatch. */
interface StepView : MinibatchView {
    /** Number of points: 2P in a round of P perturbations with central differences, else 1 + P. */
    val probes: Int

    /** Writes parameters of one point, as [ParameterView.read] does. */
    fun read(probe: Int, offset: Int, into: ByteArray): Int

    /** The same in place. */
    fun read(probe: Int, offset: Int, into: ByteBuffer): Int =
        copied(into) { read(probe, offset, it) }

    /** Writes parameters of one point, as [ParameterView.readHalf] does. */
    fun readHalf(probe: Int, offset: Int, into: ByteArray): Int

    /** The same in place. */
    fun readHalf(probe: Int, offset: Int, into: ByteBuffer): Int =
        copied(into) { readHalf(probe, offset, it) }

    /** Writes parameters of one point, as [ParameterView.readInt8] does. */
    fun readInt8(probe: Int, offset: Int, scale: Double, into: ByteArray): Int

    /** The same in place. */
    fun readInt8(probe: Int, offset: Int, scale: Double, into: ByteBuffer): Int =
        copied(into) { readInt8(probe, offset, scale, it) }

    /**
     * Writes parameters from [offset] of every point, the first point's first: [count] of each,
     * or as many as exist; returns how many. [into] has `4 * count * probes` bytes. Each
     * direction is made once for all points, so this costs far less than [read] for each.
     */
    fun readAll(offset: Int, count: Int, into: ByteArray): Int

    /** The same in place, see [ParameterView]; [StepReader] calls it. */
    fun readAll(offset: Int, count: Int, into: ByteBuffer): Int =
        copied(into) { readAll(offset, count, it) }

    /** Sets the mean loss at a point. */
    fun loss(probe: Int, value: Double)
}

/** One measurement of the model. */
interface EvaluationView : ParameterView {
    /** Adds the value of the plan's next metric: finite, the mean over the samples that [samples] counts. */
    fun metric(value: Double)

    /** Sets how many samples the metrics are means over, at least 1. */
    fun samples(n: Int)
}

/** What a view without native code does for a buffer. */
private fun copied(into: ByteBuffer, read: (ByteArray) -> Int): Int {
    val bytes = ByteArray(into.remaining())
    into.duplicate().get(bytes)
    return read(bytes).also { into.duplicate().put(bytes) }
}
