package org.zofl.android

import java.nio.FloatBuffer
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

class StepReaderTest {
    private fun points(probes: Int, dim: Int) = List(probes) { i -> FloatArray(dim) { (1000 * i + it).toFloat() } }

    private fun FloatBuffer.toList() = List(remaining()) { get(position() + it) }

    @Test
    fun `points arrive whole, one after another, in one read`() {
        val points = points(probes = 3, dim = 10)
        val step = FakeStep(points)
        assertEquals(points.flatMap { it.toList() }, StepReader(dim = 10).read(step).toList())
        assertEquals(1, step.reads)
    }

    @Test
    fun `the buffer is direct and used again`() {
        val reader = StepReader(dim = 4)
        val first = reader.read(FakeStep(points(3, 4)))
        assertTrue(first.isDirect)
        first.position(5) // as an engine leaves it
        val fewer = reader.read(FakeStep(points(2, 4)))
        assertEquals(points(2, 4).flatMap { it.toList() }, fewer.toList())
        fewer.put(0, 7f)
        assertEquals(7f, first[0], "the same memory")
        assertEquals(points(5, 4).flatMap { it.toList() }, reader.read(FakeStep(points(5, 4))).toList())
    }

    @Test
    fun `a step of another dimension is noticed`() {
        assertFailsWith<IllegalStateException> { StepReader(dim = 5).read(FakeStep(points(2, 4))) }
    }
}
