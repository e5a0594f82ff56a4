package org.zofl.android

import java.nio.ByteBuffer
import java.nio.ByteOrder
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes

/** A step of given points, without native code. It keeps the losses. */
class FakeStep(private val points: List<FloatArray>) : StepView {
    val losses = arrayOfNulls<Double>(points.size)
    var reads = 0

    override val probes = points.size
    override val dim = points[0].size
    override val record = 1L
    override val step = 0
    override val batchSize = 0
    override val batchSeed = 0L
    override val cancelled = false
    override val remaining: Duration = 1.minutes
    override val segments = listOf(Segment("all", 0, dim))

    override fun read(probe: Int, offset: Int, into: ByteArray): Int {
        val n = minOf(into.size / 4, dim - offset)
        put(probe, offset, n, into, 0)
        return n
    }

    override fun readHalf(probe: Int, offset: Int, into: ByteArray) = notCompact()

    override fun readInt8(probe: Int, offset: Int, scale: Double, into: ByteArray) = notCompact()

    override fun readAll(offset: Int, count: Int, into: ByteArray): Int {
        require(count in 1..dim && into.size == 4 * count * probes) { "${into.size} bytes for $count" }
        reads++
        val n = minOf(count, dim - offset)
        for (probe in 0 until probes) put(probe, offset, n, into, 4 * count * probe)
        return n
    }

    private fun put(probe: Int, offset: Int, n: Int, into: ByteArray, at: Int) {
        val to = ByteBuffer.wrap(into, at, 4 * n).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer()
        to.put(points[probe], offset, n)
    }

    private fun notCompact(): Nothing =
        throw UnsupportedOperationException("only native code rounds parameters: call read")

    override fun loss(probe: Int, value: Double) {
        losses[probe] = value
    }
}
