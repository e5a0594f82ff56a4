package org.zofl.android

import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.FloatBuffer

/**
 * Copies all points of a step into one direct buffer, which engines read where it is. The
 * buffer is made once and grows if a step has more points. Besides it this takes [block]
 * parameters of each point. Not thread-safe.
 */
class StepReader(private val dim: Int, block: Int = 4096) {
    private val count = minOf(block, dim)
    private var bytes = ByteArray(0)
    private var points: FloatBuffer = direct(0)

    /**
     * Returns `[probes, dim]` floats, one point after another, from position 0 to the limit.
     * The next call overwrites them.
     */
    fun read(from: StepView): FloatBuffer {
        check(from.dim == dim) { "the step has ${from.dim} parameters, and this reader $dim" }
        val probes = from.probes
        if (bytes.size != 4 * count * probes) bytes = ByteArray(4 * count * probes)
        if (points.capacity() < dim * probes) points = direct(dim * probes)
        points.clear()
        var offset = 0
        while (offset < dim) {
            val n = from.readAll(offset, count, bytes)
            check(n in 1..dim - offset) { "read $n parameters at $offset of $dim" }
            for (probe in 0 until probes) put(probe, offset, n)
            offset += n
        }
        points.position(0)
        points.limit(dim * probes)
        return points
    }

    private fun put(probe: Int, offset: Int, n: Int) {
        val part = ByteBuffer.wrap(bytes, 4 * count * probe, 4 * n).order(ByteOrder.LITTLE_ENDIAN)
        points.position(dim * probe + offset)
        points.put(part.asFloatBuffer())
    }
}

private fun direct(floats: Int): FloatBuffer =
    ByteBuffer.allocateDirect(Math.multiplyExact(4, floats)).order(ByteOrder.nativeOrder()).asFloatBuffer()
