package org.zofl.android

import java.nio.ByteBuffer
import java.nio.ByteOrder

/**
 * Copies a callback's parameters into an array of the app, block by block. Besides the
 * floats this takes one block of bytes, whatever the model's size, and allocates nothing
 * after construction. Not thread-safe.
 */
class ParameterReader(dim: Int, block: Int = 4096) {
    val values = FloatArray(dim)
    private val bytes = ByteArray(4 * block)
    private val floats = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer()

    fun read(from: ParameterView): FloatArray {
        var offset = 0
        while (offset < values.size) {
            val n = from.read(offset, bytes)
            check(n in 1..values.size - offset) { "read $n parameters at $offset of ${values.size}" }
            floats.position(0)
            floats.get(values, offset, n)
            offset += n
        }
        return values
    }
}
