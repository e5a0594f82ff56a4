package org.zofl.android

import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield

class TrainingSessionTest {
    private val settings = FullSettings(MemorySettings(Settings(optedIn = true, server = "tls://h:4222", run = "digits")))
    private val conditions = MutableStateFlow(
        Conditions(Network(connected = true, metered = false, id = 1), Power(charging = true, percent = 80)),
    )
    private val device = FakeDevice()
    private val opener = FakeOpener(device)
    private val kept = mutableListOf<Triple<Model?, Progress, Outcome>>()
    private var limits: Limits? = null

    private fun session(patience: kotlin.time.Duration = 2.minutes) = TrainingSession(
        settings, conditions,
        join = { _, l -> limits = l; ZoflClient.open(opener, plainConfig, null, Loss { 0.0 }) },
        keep = { model, progress, outcome ->
            yield() // as one that goes to the disk's thread: it fails in a canceled coroutine
            kept += Triple(model, progress, outcome)
        },
        patience = patience,
    )

    @Test
    fun `a spent budget continues another time`() = runBlocking<Unit> {
        device.returns = true
        device.record = 5
        device.values = floatArrayOf(1f, 2f)
        assertIs<Outcome.More>(session().run(9.minutes))
        assertEquals("runFor 540000 on zofl", device.calls.first { it.startsWith("run") })
        assertEquals(5, kept.single().first!!.record)
        assertTrue("stop" in device.calls, "the client was left open")
    }

    @Test
    fun `a run that has ended is finished`() = runBlocking<Unit> {
        device.returns = true
        device.ended = true
        assertIs<Outcome.Finished>(session().run(9.minutes))
        assertNull(kept.single().first)
        assertEquals("the run has ended", settings.settings.value.halted)
    }

    @Test
    fun `a denied session opens no client`() = runBlocking<Unit> {
        settings.update { it.copy(optedIn = false) }
        assertIs<Outcome.Halted>(session().run(9.minutes))
        assertNull(limits, "a client was opened")
        assertTrue(kept.isEmpty())
    }

    @Test
    fun `unplugging ends a session, to be tried again`() = runBlocking<Unit> {
        val result = async(Dispatchers.Default) { session().run(9.minutes) }
        device.running.await()
        conditions.value = conditions.value.copy(power = Power(charging = false, percent = 80))
        assertEquals(Outcome.Retry("not charging"), result.await())
        assertTrue(device.returned)
    }

    @Test
    fun `by hand it runs without a charger`() = runBlocking<Unit> {
        conditions.value = conditions.value.copy(power = Power(charging = false, percent = 80))
        device.returns = true
        assertIs<Outcome.More>(session().run(9.minutes, byHand = true))
        assertEquals(false, limits!!.chargingOnly)
    }

    @Test
    fun `opting out ends training for good`() = runBlocking<Unit> {
        val result = async(Dispatchers.Default) { session().run(9.minutes) }
        device.running.await()
        settings.update { it.copy(optedIn = false) }
        assertIs<Outcome.Halted>(result.await())
        assertTrue(device.returned)
        assertNull(settings.settings.value.halted, "nothing is left to mend when it is switched on again")
    }

    @Test
    fun `an unreachable server does not use up the budget`() = runBlocking<Unit> {
        val result = async(Dispatchers.Default) { session(patience = 1.milliseconds).run(9.minutes) }
        device.running.await()
        device.listener.onFault("offline", "no server answers: look at the network")
        device.listener.onState(DeviceState.OFFLINE, "")
        assertIs<Outcome.Retry>(result.await())
        assertTrue(device.returned)
    }

    @Test
    fun `a server that refuses the user halts until something changes`() = runBlocking<Unit> {
        val result = async(Dispatchers.Default) { session(patience = 1.milliseconds).run(9.minutes) }
        device.running.await()
        device.listener.onFault("unauthorized", "user is unknown: ask the operator")
        device.listener.onState(DeviceState.OFFLINE, "")
        assertIs<Outcome.Halted>(result.await())
        assertEquals(result.await().reason, settings.settings.value.halted)
        assertIs<Outcome.Halted>(session().run(9.minutes))
        assertNull(settings.settings.value.optIn().halted)
    }

    @Test
    fun `an error saves the model and decides the outcome`() = runBlocking<Unit> {
        device.error = Exception("upgrade: record kind 9 is unknown: update")
        device.record = 3
        device.values = floatArrayOf(1f, 2f)
        assertIs<Outcome.Halted>(session().run(9.minutes))
        assertEquals(3, kept.single().first!!.record)
        opener.error = Exception("store: disk is full: free some")
        settings.update { it.copy(halted = null) }
        assertIs<Outcome.Retry>(session().run(9.minutes, attempt = 1))
    }

    @Test
    fun `a stop by the system saves the model`() = runBlocking<Unit> {
        device.record = 8
        device.values = floatArrayOf(1f, 2f)
        val work = async(Dispatchers.Default) { session().run(9.minutes) }
        device.running.await()
        work.cancelAndJoin()
        assertTrue(device.returned)
        assertEquals(8, kept.single().first!!.record)
    }

    @Test
    fun `a full disk does not hide the reason for halting`() = runBlocking<Unit> {
        settings.full = true
        device.error = Exception("upgrade: record kind 9 is unknown: update")
        assertIs<Outcome.Halted>(session().run(9.minutes))
        assertIs<Outcome.Halted>(kept.single().third)
        assertEquals(false, settings.settings.value.ready)
    }

    @Test
    fun `only one session runs at a time`() = runBlocking<Unit> {
        val shared = session()
        val first = async(Dispatchers.Default) { shared.run(9.minutes) }
        device.running.await()
        assertEquals(Outcome.Retry("another session runs"), shared.run(9.minutes))
        val idle = async(Dispatchers.Default, CoroutineStart.UNDISPATCHED) { shared.idle() }
        assertFalse(idle.isCompleted)
        first.cancelAndJoin()
        idle.await()
    }
}
