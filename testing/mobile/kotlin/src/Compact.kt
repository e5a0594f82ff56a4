import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.FloatBuffer
import kotlin.math.abs
import org.zofl.android.ParameterReader
import org.zofl.android.ParameterView

/**
 * Whether the shorter forms of all parameters are those that [ParameterView] promises, and all
 * forms are the same in a direct buffer.
 */
internal fun compact(view: ParameterView): Boolean {
    val x = ParameterReader(view.dim).read(view)
    val scale = x.maxOf(::abs) / 100.0 + 1e-6
    val halves = ByteArray(2 * view.dim)
    val bytes = ByteArray(view.dim)
    if (view.readHalf(0, halves) != view.dim || view.readInt8(0, scale, bytes) != view.dim) return false
    if (!inPlace(view, scale, x, halves, bytes)) return false
    val bits = ByteBuffer.wrap(halves).order(ByteOrder.LITTLE_ENDIAN).asShortBuffer()
    return x.indices.all { i ->
        abs(floatOf(bits[i].toInt()) - x[i]) <= maxOf(abs(x[i]) / 2048, 1f / (1 shl 25)) &&
            bytes[i].toInt() == Math.rint(x[i] / scale).toInt()
    }
}

/** Whether direct buffers get what arrays got. */
private fun inPlace(
    view: ParameterView, scale: Double, x: FloatArray, halves: ByteArray, bytes: ByteArray,
): Boolean {
    val to = ByteBuffer.allocateDirect(4 * view.dim).order(ByteOrder.nativeOrder())
    if (view.read(0, to) != view.dim || to.asFloatBuffer() != FloatBuffer.wrap(x)) return false
    to.limit(2 * view.dim)
    if (view.readHalf(0, to) != view.dim || to != ByteBuffer.wrap(halves)) return false
    to.limit(view.dim)
    return view.readInt8(0, scale, to) == view.dim && to == ByteBuffer.wrap(bytes)
}

/** The value of a finite binary16: 1 sign bit, 5 of the exponent, 10 of the fraction. */
private fun floatOf(bits: Int): Float {
    val exponent = bits shr 10 and 31
    val fraction = (bits and 1023) + if (exponent > 0) 1024 else 0
    val magnitude = Math.scalb(fraction.toFloat(), maxOf(exponent, 1) - 25)
    return if (bits and 0x8000 != 0) -magnitude else magnitude
}
