package org.zofl.android

import kotlin.test.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

class ScalerTest {
    @Test
    fun `scales each column, and what is missing or constant becomes 0`() {
        val scaler = Scaler(doubleArrayOf(2.0, -100.0, 0.1, 7.0), doubleArrayOf(0.5, 50.0, 1e-17, 1.0))
        val row = floatArrayOf(3f, -200f, 9f, Float.NaN)
        scaler.apply(row)
        assertContentEquals(floatArrayOf(2f, -2f, 0f, 0f), row)
        assertEquals(4, scaler.columns)
    }

    @Test
    fun `refuses a row of other columns`() {
        val error = assertFailsWith<IllegalArgumentException> {
            Scaler(doubleArrayOf(0.0), doubleArrayOf(1.0)).apply(floatArrayOf(1f, 2f))
        }
        assertEquals("a row of 2 columns: the scale is of 1", error.message)
    }
}
