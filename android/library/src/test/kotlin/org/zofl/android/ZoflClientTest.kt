package org.zofl.android

import kotlin.test.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertSame
import kotlin.test.assertTrue
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

class ZoflClientTest {
    @Test
    fun `a canceled run stops the device and waits for it`() = runBlocking<Unit> {
        val device = FakeDevice().apply { lingers = true }
        val client = open(device)
        val run = launch(Dispatchers.Default) { client.run() }
        device.running.await()

        val joined = async(Dispatchers.Default, CoroutineStart.UNDISPATCHED) { run.cancelAndJoin() }
        while ("stop" !in device.calls) Thread.onSpinWait()
        assertFalse(joined.isCompleted, "joined while native code runs")
        device.lingering.countDown()
        joined.await()
        assertTrue(device.returned, "joined before native code had returned")
        assertFalse("interrupted" in device.calls)
    }

    @Test
    fun `a run canceled before it began calls nothing`() = runBlocking<Unit> {
        val device = FakeDevice()
        val client = open(device)
        launch(start = CoroutineStart.UNDISPATCHED) {
            cancel()
            client.run()
        }.join()
        assertTrue(device.calls.isEmpty(), "${device.calls}")
    }

    @Test
    fun `native code has its own thread and gets the budget`() = runBlocking<Unit> {
        val device = FakeDevice().apply { returns = true }
        open(device).runFor(9.seconds)
        assertEquals("runFor 9000 on zofl", device.calls.first())
    }

    @Test
    fun `errors have their class, code and cause`() = runBlocking<Unit> {
        val device = FakeDevice().apply { error = Exception("locked: /state is in use: stop the other client") }
        val e = assertFailsWith<ZoflException.Occupied> { open(device).run() }
        assertEquals("locked", e.code)
        assertEquals("/state is in use: stop the other client", e.detail)
        assertEquals(device.error!!.message, e.message)
        assertTrue(generateSequence<Throwable>(e) { it.cause }.any { it === device.error }, "${e.cause}")
    }

    @Test
    fun `a device is opened with its line, its run key and the app's say`() = runBlocking<Unit> {
        val opener = FakeOpener(FakeDevice())
        val key = ByteArray(32) { 7 }
        val plan = Plan(2, 1, 8, 0, 30.seconds, 1 shl 20, true, listOf(Segment("all", 0, 2)))
        val refusal = IllegalStateException("on a phone?")
        var asked: Plan? = null
        val consent = Consent { asked = it; throw refusal }
        val config = DeviceConfig(dim = 2, stateDir = "/state")
        ZoflClient.open(opener, config, Secrets(line = "zofl:?v=1", runKey = key), Loss { 0.0 }, consent = consent)
        assertEquals(DeviceConfig("", "", 2, emptyList(), "/state"), opener.config)
        assertEquals("zofl:?v=1", opener.secrets.line)
        assertContentEquals(key, opener.secrets.runKey)
        assertNull(opener.credentials)
        val thrown = runCatching { opener.device.callbacks.consent!!.accept(plan) }.exceptionOrNull()
        assertSame(refusal, thrown)
        assertSame(plan, asked)
    }

    @Test
    fun `secrets are not printed`() {
        val text = Secrets("SUSECRET", "zofl:?SECRET", ByteArray(32)).toString()
        assertFalse("SECRET" in text, text)
    }

    @Test
    fun `opening happens off the caller's thread and its errors have a class`() = runBlocking<Unit> {
        val opener = FakeOpener(FakeDevice())
        ZoflClient.open(opener, plainConfig, "SUSECRET", Loss { 0.0 })
        assertEquals("zofl-open", opener.thread)
        assertEquals("SUSECRET", opener.credentials)
        opener.error = Exception("credentials: neither a creds file nor a seed: paste the whole text")
        assertIs<ZoflException.Access>(
            runCatching { ZoflClient.open(opener, plainConfig, "x", Loss { 0.0 }) }.exceptionOrNull(),
        )
    }

    @Test
    fun `progress is the latest news`() = runBlocking<Unit> {
        val device = FakeDevice().apply { traffic = Traffic(sent = 7, received = 9) }
        val client = open(device)
        device.listener.onState(DeviceState.WORKING, "round 3")
        device.listener.onProgress(record = 4, last = 9, round = 3, contributions = 2, loss = Double.NaN)
        device.listener.onFault("tls", "certificate has expired: renew it")
        val p = client.progress.value
        assertEquals(
            Progress(DeviceState.WORKING, "round 3", 4, 9, 3, 2, null, Traffic(7, 9), p.fault), p,
        )
        assertEquals("tls", assertIs<ZoflException.Connection>(p.fault).code)
        device.listener.onProgress(5, 9, 4, 3, 1.5)
        assertEquals(1.5, client.progress.value.loss)
    }

    @Test
    fun `a fault that is over is dropped`() = runBlocking<Unit> {
        val device = FakeDevice()
        val client = open(device)
        fun fault() = client.progress.value.fault?.code
        device.listener.onFault("offline", "no server answers: look at the network")
        device.listener.onState(DeviceState.JOINING, "")
        assertEquals("offline", fault(), "nobody has answered yet")
        device.listener.onState(DeviceState.WAITING, "")
        assertNull(fault())
        device.listener.onFault("loss", "loss is NaN: give a finite one")
        device.listener.onState(DeviceState.WORKING, "")
        device.listener.onProgress(4, 9, 3, 0, Double.NaN)
        assertEquals("loss", fault(), "no round went right since")
        device.listener.onProgress(5, 9, 4, 1, 1.5)
        assertNull(fault())
    }

    @Test
    fun `bytes are counted to the end`() = runBlocking<Unit> {
        val device = FakeDevice().apply { returns = true }
        val client = open(device)
        device.traffic = Traffic(100, 200)
        client.run()
        assertEquals(Traffic(100, 200), client.progress.value.traffic)
    }

    @Test
    fun `segments are those of the plan`() = runBlocking<Unit> {
        val device = FakeDevice()
        val client = open(device)
        assertEquals(emptyList(), client.segments)
        device.segments = listOf(Segment("gain", 0, 1), Segment("offset", 1, 1))
        assertEquals(Segment("offset", 1, 1), client.segments.named("offset"))
        val missing = assertFailsWith<IllegalArgumentException> { client.segments.named("bias") }
        assertEquals("segment \"bias\": the plan has [gain, offset]", missing.message)
    }

    @Test
    fun `params are null before there are any`() = runBlocking<Unit> {
        val device = FakeDevice()
        val client = open(device)
        assertNull(client.params())
        assertNull(client.digest())
        device.record = 12
        device.values = floatArrayOf(1.5f, -2f)
        assertEquals(12, client.params()!!.record)
        assertContentEquals(device.values, client.params()!!.values)
        assertEquals("ab".repeat(32), client.digest())
    }
}
