package org.zofl.android

import java.nio.FloatBuffer
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertSame
import kotlin.test.assertTrue

class StepReaderTest {
    private fun points(probes: Int, dim: Int) = List(probes) { i -> FloatArray(dim) { (1000 * i + it).toFloat() } }

    private fun FloatBuffer.toList() = List(remaining()) { get(position() + it) }

    @Test
    fun `points arrive whole, one after another, however they are cut`() {
        val points = points(probes = 3, dim = 10)
        for (block in listOf(1, 3, 5, 10, 4096)) {
            val step = FakeStep(points)
            val read = StepReader(dim = 10, block).read(step)
            assertEquals(points.flatMap { it.toList() }, read.toList(), "block $block")
            assertEquals((10 + minOf(block, 10) - 1) / minOf(block, 10), step.reads, "block $block")
        }
    }

    @Test
    fun `the buffer is direct and used again`() {
        val reader = StepReader(dim = 4)
        val first = reader.read(FakeStep(points(3, 4)))
        assertTrue(first.isDirect)
        first.position(5) // as an engine leaves it
        val fewer = reader.read(FakeStep(points(2, 4)))
        assertSame(first, fewer)
        assertEquals(points(2, 4).flatMap { it.toList() }, fewer.toList())
        assertEquals(points(5, 4).flatMap { it.toList() }, reader.read(FakeStep(points(5, 4))).toList())
    }

    @Test
    fun `a step of another dimension is noticed`() {
        assertFailsWith<IllegalStateException> { StepReader(dim = 5).read(FakeStep(points(2, 4))) }
    }
}
