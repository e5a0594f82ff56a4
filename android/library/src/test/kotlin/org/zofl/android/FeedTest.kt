package org.zofl.android

import kotlin.test.Test
import kotlin.test.assertEquals
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.UnconfinedTestDispatcher
import kotlinx.coroutines.test.runTest

@OptIn(ExperimentalCoroutinesApi::class)
class FeedTest {
    private val wifi = Network(connected = true, metered = false, id = 1)
    private val mobile = Network(connected = true, metered = true, id = 2)

    @Test
    fun `the device gets changes and reconnects when needed`() = runTest {
        val device = FakeDevice()
        val client = open(device)
        val conditions = MutableStateFlow(Conditions(wifi, Power(true, 80)))
        val feeding = launch(UnconfinedTestDispatcher(testScheduler)) { feed(conditions, client) }
        fun said(): List<String> = generateSequence { device.calls.poll() }.toList()

        assertEquals(listOf("network true false", "power true 80"), said())
        conditions.value = conditions.value.copy(power = Power(true, 81))
        assertEquals(listOf("power true 81"), said())
        conditions.value = conditions.value.copy(network = mobile)
        assertEquals(listOf("network true true", "reconnect"), said())
        conditions.value = conditions.value.copy(thermal = Thermal.LIGHT)
        assertEquals(emptyList(), said())
        conditions.value = conditions.value.copy(dozing = true)
        assertEquals(emptyList(), said())
        conditions.value = conditions.value.copy(dozing = false)
        assertEquals(listOf("reconnect"), said())
        conditions.value = conditions.value.copy(network = Network())
        assertEquals(listOf("network false true"), said())
        conditions.value = conditions.value.copy(network = wifi)
        assertEquals(listOf("network true false"), said(), "the library reconnects by itself when there was no network")
        feeding.cancel()
    }
}
