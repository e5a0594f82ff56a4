package org.zofl.digits

import kotlin.math.ln
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlinx.coroutines.runBlocking
import org.zofl.android.Model
import org.zofl.android.Settings

class DigitTaskTest {
    private val task = DigitTask()
    private val zeros = FloatArray(DigitClassifier.DIM)

    @Test
    fun `a model of zeros knows nothing`() = runBlocking<Unit> {
        val metrics = task.measure(Model(9, zeros))
        assertTrue(metrics.getValue("accuracy") in 0.02..0.25, "$metrics")
        assertEquals(ln(10.0), metrics.getValue("loss"), 1e-6)
        assertEquals(metrics, Score.of(metrics)!!.toMetrics())
        assertNull(Score.of(metrics - "loss"))
    }

    @Test
    fun `a screen sees the score that the coordinator asked for`() = runBlocking<Unit> {
        val lesson = task.begin(Settings(device = "phone-1"))
        assertEquals(DigitTask.SAMPLES, lesson.samples)
        assertNull(task.score.value)
        val asked = Measurement(zeros)
        lesson.evaluator!!.evaluate(asked)
        assertEquals(asked.metrics, task.score.value!!.toMetrics().values.toList())
        task.begin(Settings(device = "phone-1"))
        assertNull(task.score.value, "measured in the session before")
    }
}
