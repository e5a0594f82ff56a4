package org.zofl.digits

import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.minutes
import org.zofl.android.EvaluationView
import org.zofl.android.Segment

/** An evaluation of [x], with its results. */
class Measurement(private val x: FloatArray) : EvaluationView {
    val metrics = mutableListOf<Double>()
    var samples = 0

    override val dim = x.size
    override val cancelled = false
    override val remaining = 1.minutes
    override val segments = emptyList<Segment>()

    override fun read(offset: Int, into: ByteArray): Int {
        val n = minOf(into.size / 4, x.size - offset)
        ByteBuffer.wrap(into).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(x, offset, n)
        return n
    }

    override fun readHalf(offset: Int, into: ByteArray) = throw UnsupportedOperationException("call read")

    override fun readInt8(offset: Int, scale: Double, into: ByteArray) =
        throw UnsupportedOperationException("call read")

    override fun metric(value: Double) {
        metrics += value
    }

    override fun samples(n: Int) {
        samples = n
    }
}

class DigitEvaluatorTest {
    private val strangers = DigitSet.writtenByMany(20, 1L..5L)
    private val x = Draw(1).let { draw -> FloatArray(DigitClassifier.DIM) { draw.uniform(-.5, .5).toFloat() } }

    @Test
    fun `it measures the model on other people's digits`() {
        val told = mutableListOf<Score>()
        val evaluator = DigitEvaluator(strangers, told::add)
        val want = Score(
            accuracy = DigitClassifier().accuracy(x, strangers),
            loss = DigitClassifier().loss(x, strangers, Minibatch().draw(0, 0, strangers.size)),
        )
        repeat(2) { // with fresh and reused buffers
            val asked = Measurement(x)
            evaluator.evaluate(asked)
            assertEquals(listOf(want.accuracy, want.loss), asked.metrics)
            assertEquals(100, asked.samples)
        }
        assertEquals(listOf(want, want), told)
    }

    @Test
    fun `a model of another size is an error`() {
        val asked = Measurement(FloatArray(3))
        assertFailsWith<IllegalStateException> { DigitEvaluator(strangers).evaluate(asked) }
        assertTrue(asked.metrics.isEmpty())
    }

    @Test
    fun `the plan in the README names its metrics`() {
        val readme = generateSequence(File("").absoluteFile) { it.parentFile }.map { File(it, "README.md") }
            .first { it.exists() && "zofl plan" in it.readText() }.readText()
        val names = Score.METRICS.joinToString(",") { "\"${it.name}\"" }
        assertTrue("metrics=[$names]" in readme, "the README's plan has not metrics=[$names]")
    }
}
