package org.zofl.android

import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.FloatBuffer

/**
 * Reads all points of a step into one direct buffer, in place: engines read them where they are.
 * The buffer is made once and grows if a step has more points. Not thread-safe.
 */
class StepReader(private val dim: Int) {
    private var bytes = direct(0)

    /**
     * Returns `[probes, dim]` floats, one point after another, from position 0 to the limit.
     * The next call overwrites them.
     */
    fun read(from: StepView): FloatBuffer {
        check(from.dim == dim) { "the step has ${from.dim} parameters, and this reader $dim" }
        val size = Math.multiplyExact(4 * from.probes, dim)
        if (bytes.capacity() < size) bytes = direct(size)
        bytes.limit(size)
        val n = from.readAll(0, dim, bytes)
        check(n == dim) { "read $n parameters of $dim" }
        return bytes.asFloatBuffer()
    }
}

private fun direct(bytes: Int): ByteBuffer =
    ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder())
