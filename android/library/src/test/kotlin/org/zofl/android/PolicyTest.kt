package org.zofl.android

import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertIs

class PolicyTest {
    private val good = Conditions(
        Network(connected = true, metered = false, id = 1), Power(charging = true, percent = 80),
    )
    private val willing = Settings(optedIn = true, server = "tls://h:4222", run = "r")

    private fun denial(s: Settings = willing, now: Conditions = good): String? =
        (Policy.mayTrain(s, s.limits, now) as? Permit.Denied)?.reason

    @Test
    fun `good conditions are granted`() = assertEquals(null, denial())

    @Test
    fun `what is wrong is named`() {
        val cases = mapOf(
            "not switched on" to denial(willing.copy(optedIn = false)),
            "no server and run are set" to denial(willing.copy(server = " ")),
            "new credentials" to denial(willing.copy(halted = "new credentials")),
            "the phone is warm" to denial(now = good.copy(thermal = Thermal.MODERATE)),
            "power saving is on" to denial(now = good.copy(power = good.power.copy(saver = true))),
            "no network" to denial(now = good.copy(network = Network())),
            "the phone sleeps" to denial(now = good.copy(dozing = true)),
            "the network is metered" to denial(now = good.copy(network = good.network.copy(metered = true))),
            "not charging" to denial(now = good.copy(power = good.power.copy(charging = false))),
            "battery at 29 %, below 30 %" to denial(
                willing.copy(limits = Limits(chargingOnly = false)), good.copy(power = Power(charging = false, percent = 29)),
            ),
        )
        for ((want, got) in cases) assertEquals(want, got)
    }

    @Test
    fun `while charging the battery may be low`() =
        assertEquals(null, denial(now = good.copy(power = Power(charging = true, percent = 3))))

    @Test
    fun `a little warmth denies nothing`() = assertEquals(null, denial(now = good.copy(thermal = Thermal.LIGHT)))

    @Test
    fun `only temporary problems are worth waiting for`() {
        for (s in listOf(willing.copy(optedIn = false), willing.copy(run = ""), willing.copy(halted = "x"))) {
            assertEquals(false, assertIs<Permit.Denied>(Policy.mayTrain(s, s.limits, good)).patience)
        }
        val unplugged = good.copy(power = good.power.copy(charging = false))
        assertEquals(true, assertIs<Permit.Denied>(Policy.mayTrain(willing, willing.limits, unplugged)).patience)
    }

    @Test
    fun `training that is not ready is denied without patience`() {
        assertEquals(true, willing.ready)
        for (s in listOf(willing.copy(optedIn = false), willing.copy(run = ""), willing.copy(server = " "), willing.copy(halted = "x"))) {
            assertEquals(false, s.ready, "$s")
            assertEquals(false, assertIs<Permit.Denied>(Policy.mayTrain(s, s.limits, good)).patience)
        }
    }

    @Test
    fun `by hand needs no charger but keeps the rest`() {
        val byHand = Policy.byHand(Limits())
        assertEquals(Limits(unmeteredOnly = true, chargingOnly = false, minBattery = 30), byHand)
    }

    @Test
    fun `before the system's first report nothing is granted`() =
        assertEquals("no network", denial(now = Conditions()))

    @Test
    fun `the hub merges the watchers' reports`() {
        val hub = ConditionsHub()
        hub.network(good.network)
        hub.power(good.power)
        hub.thermal(2)
        hub.dozing(true)
        assertEquals(good.copy(thermal = Thermal.MODERATE, dozing = true), hub.conditions.value)
        hub.thermal(99)
        assertEquals(Thermal.SHUTDOWN, hub.conditions.value.thermal)
    }
}
