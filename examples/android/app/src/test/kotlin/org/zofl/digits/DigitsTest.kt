package org.zofl.digits

import java.nio.ByteBuffer
import java.nio.ByteOrder
import kotlin.math.ln
import kotlin.test.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.minutes
import org.zofl.android.ParameterReader
import org.zofl.android.RoundView
import org.zofl.android.Segment

/** A round at given parameters, handed out [most] at a time. */
private class Fixed(
    val x: FloatArray,
    override val batchSize: Int = 0,
    override val batchSeed: Long = 0,
    val most: Int = Int.MAX_VALUE,
) : RoundView {
    override val record = 1L
    override val step = 0
    override val dim = x.size
    override val cancelled = false
    override val remaining = 1.minutes
    override val segments = emptyList<Segment>()
    var reads = 0

    override fun read(offset: Int, into: ByteArray): Int {
        reads++
        val n = minOf(into.size / 4, x.size - offset, most)
        ByteBuffer.wrap(into).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(x, offset, n)
        return n
    }

    override fun readHalf(offset: Int, into: ByteArray) = throw UnsupportedOperationException("call read")

    override fun readInt8(offset: Int, scale: Double, into: ByteArray) =
        throw UnsupportedOperationException("call read")
}

class DigitsTest {
    private val set = DigitSet.written(200, person = 1)
    private val zero = FloatArray(DigitClassifier.DIM)
    private val some = FloatArray(DigitClassifier.DIM) { ((it * 37 % 101) - 50) * 0.004f }

    @Test
    fun `a person always writes the same, another person differently`() {
        assertContentEquals(set.pixels, DigitSet.written(200, 1).pixels)
        assertTrue(!set.pixels.contentEquals(DigitSet.written(200, 2).pixels))
        assertEquals((0..9).toSet(), set.labels.map { it.toInt() }.toSet())
    }

    @Test
    fun `every digit leaves ink, and pixels are shades`() {
        for (i in 0 until set.size) {
            val pixels = set.pixels.slice(i * Handwriting.PIXELS until (i + 1) * Handwriting.PIXELS)
            assertTrue(pixels.all { it in 0f..1f })
            assertTrue(pixels.sum() > 8, "digit ${set.labels[i]} has ${pixels.sum()} of ink")
        }
    }

    @Test
    fun `parameters arrive in blocks`() {
        val round = Fixed(FloatArray(10_001) { it.toFloat() })
        val reader = ParameterReader(10_001, block = 1000)
        assertContentEquals(round.x, reader.read(round))
        assertEquals(11, round.reads)
        assertContentEquals(round.x, reader.read(Fixed(round.x, most = 7)))
        val nothing = assertFailsWith<IllegalStateException> { reader.read(Fixed(round.x, most = 0)) }
        assertEquals("read 0 parameters at 0 of 10001", nothing.message)
    }

    @Test
    fun `a seed determines a minibatch`() {
        val a = Minibatch().draw(32, 5, 200)
        val first = List(a.size) { a[it] }
        assertEquals(32, first.size)
        assertTrue(first.all { it in 0 until 200 })
        assertEquals(first, a.draw(32, 5, 200).let { b -> List(b.size) { b[it] } })
        assertTrue(first != a.draw(32, 6, 200).let { b -> List(b.size) { b[it] } })
        assertEquals(List(200) { it }, a.draw(0, 5, 200).let { b -> List(b.size) { b[it] } })
    }

    @Test
    fun `the loss of an untrained model is that of a guess`() {
        assertEquals(ln(10.0), DigitLoss(set).loss(Fixed(zero)), 1e-6)
    }

    /** The formula of the class's comment, in doubles, ignoring overflow. */
    private fun plainLoss(x: FloatArray): Double = (0 until set.size).sumOf { i ->
        val scores = DoubleArray(10) { c ->
            x[DigitClassifier.DIM - 10 + c] + (0 until Handwriting.PIXELS).sumOf {
                x[c * Handwriting.PIXELS + it].toDouble() * set.pixels[i * Handwriting.PIXELS + it]
            }
        }
        ln(scores.sumOf { kotlin.math.exp(it) }) - scores[set.labels[i].toInt()]
    } / set.size

    @Test
    fun `the loss is the formula`() {
        assertEquals(plainLoss(some), DigitLoss(set).loss(Fixed(some)), 1e-5)
        assertTrue(DigitLoss(set).loss(Fixed(FloatArray(some.size) { some[it] * 1e4f })).isFinite())
    }

    @Test
    fun `the same call has the same result, from any thread`() {
        val loss = DigitLoss(set)
        val want = loss.loss(Fixed(some, 32, 9))
        val answers = java.util.concurrent.ConcurrentLinkedQueue<Double>()
        val threads = List(4) { Thread { repeat(50) { answers += loss.loss(Fixed(some, 32, 9)) } }.apply { start() } }
        threads.forEach(Thread::join)
        assertEquals(200, answers.size)
        assertEquals(setOf(want), answers.toSet())
    }

    @Test
    fun `it learns from losses alone`() {
        // Two-point estimates along random directions, as rounds do, without the network.
        val loss = DigitLoss(set)
        val x = zero.copyOf()
        val draw = Draw(3)
        val mu = 1e-2f
        for (t in 0 until 3000) {
            val z = FloatArray(x.size) { if (draw.int(2) == 0) -1f else 1f }
            val up = loss.loss(Fixed(FloatArray(x.size) { x[it] + mu * z[it] }, 64, t.toLong()))
            val down = loss.loss(Fixed(FloatArray(x.size) { x[it] - mu * z[it] }, 64, t.toLong()))
            val g = ((up - down) / (2 * mu)).toFloat()
            for (i in x.indices) x[i] -= 0.004f * g * z[i]
        }
        val strangers = DigitSet.writtenByMany(50, 100L..109L)
        val accuracy = DigitClassifier().accuracy(x, strangers)
        assertTrue(accuracy > 0.5, "accuracy $accuracy on others' digits")
        println("accuracy on others' digits: $accuracy")
    }
}
