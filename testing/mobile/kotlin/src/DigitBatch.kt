import java.nio.ByteBuffer
import java.util.concurrent.atomic.AtomicReference
import kotlin.time.Duration
import org.zofl.android.BatchLoss
import org.zofl.android.ParameterReader
import org.zofl.android.ParameterView
import org.zofl.android.StepReader
import org.zofl.android.StepView
import org.zofl.android.named
import org.zofl.digits.DigitClassifier
import org.zofl.digits.DigitSet
import org.zofl.digits.Minibatch

/** The losses of a step's points in one call. It notes what it saw. */
internal class DigitBatch(private val set: DigitSet) : BatchLoss {
    private val reader = StepReader(DigitClassifier.DIM)
    private val x = FloatArray(DigitClassifier.DIM)
    private val classifier = DigitClassifier()
    private val batch = Minibatch()

    /** What the latest complete call saw. */
    val seen = AtomicReference<Map<String, Any>>()

    @Synchronized // a call may come before a slow one has returned
    override fun losses(step: StepView) {
        val remaining = step.remaining
        val points = reader.read(step)
        batch.draw(step.batchSize, step.batchSeed, set.size)
        for (probe in 0 until step.probes) {
            points.get(x)
            step.loss(probe, classifier.loss(x, set, batch))
        }
        val last = lastOf(step)
        val same = ParameterReader(step.dim).read(last).contentEquals(x)
        seen.set(noted(step, remaining, same) + ("compact" to compact(last)))
    }

    /** The last point, as if it were alone. */
    private fun lastOf(step: StepView) = object : ParameterView {
        override val dim = step.dim
        override val cancelled get() = step.cancelled
        override val remaining get() = step.remaining
        override val segments get() = step.segments
        override fun read(offset: Int, into: ByteArray) = step.read(step.probes - 1, offset, into)
        override fun readHalf(offset: Int, into: ByteArray) = step.readHalf(step.probes - 1, offset, into)
        override fun readInt8(offset: Int, scale: Double, into: ByteArray) =
            step.readInt8(step.probes - 1, offset, scale, into)
        override fun read(offset: Int, into: ByteBuffer) = step.read(step.probes - 1, offset, into)
        override fun readHalf(offset: Int, into: ByteBuffer) = step.readHalf(step.probes - 1, offset, into)
        override fun readInt8(offset: Int, scale: Double, into: ByteBuffer) =
            step.readInt8(step.probes - 1, offset, scale, into)
    }

    private fun noted(step: StepView, remaining: Duration, same: Boolean) = mapOf(
        "probes" to step.probes, "remaining" to remaining.inWholeMilliseconds, "same" to same,
        "biases" to step.segments.named("biases").offset, "segments" to step.segments.size,
        "scaled" to floatArrayOf(3f, 200f).also { step.scaler?.apply(it) }.joinToString(),
    )
}
