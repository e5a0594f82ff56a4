package org.zofl.android

import java.util.logging.Handler
import java.util.logging.LogRecord
import java.util.logging.Logger
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertIs
import kotlin.test.assertNull
import kotlin.test.assertSame
import kotlin.test.assertTrue
import kotlin.time.Duration
import kotlinx.coroutines.runBlocking

class WitnessTest {
    private object Anywhere : RoundView {
        override val dim = 2
        override val cancelled = false
        override val record = 1L
        override val step = 0
        override val batchSize = 0
        override val batchSeed = 0L
        override val remaining = Duration.ZERO
        override val segments = emptyList<Segment>()

        override fun read(offset: Int, into: ByteArray) = 0
        override fun readHalf(offset: Int, into: ByteArray) = 0
        override fun readInt8(offset: Int, scale: Double, into: ByteArray) = 0
    }

    private fun deep(n: Int): Int = 1 + deep(n + 1)

    @Test
    fun `what a loss throws is the cause of the fault, errors too`() = runBlocking<Unit> {
        for (throws in listOf({ throw AssertionError() }, { deep(0).toDouble() }, { error("x") })) {
            val device = FakeDevice()
            val client = ZoflClient.open(FakeOpener(device), plainConfig, null, Loss { throws() })
            val seen = assertFailsWith<Throwable> { (device.callbacks.objective as Loss).loss(Anywhere) }
            device.listener.onFault("loss", "record 1: $seen")
            val fault = assertIs<ZoflException.Round>(client.progress.value.fault)
            assertSame(seen, fault.cause)
            assertTrue(seen.stackTrace.isNotEmpty())
        }
    }

    @Test
    fun `what a batch loss throws is the cause of the fault, too`() = runBlocking<Unit> {
        val device = FakeDevice()
        val client = ZoflClient.open(FakeOpener(device), plainConfig, null, BatchLoss { error("x") })
        val seen = assertFailsWith<IllegalStateException> {
            (device.callbacks.objective as BatchLoss).losses(FakeStep(listOf(floatArrayOf(1f))))
        }
        device.listener.onFault("loss", "record 1: $seen")
        assertSame(seen, client.progress.value.fault!!.cause)
    }

    @Test
    fun `another fault has no such cause`() = runBlocking<Unit> {
        val device = FakeDevice()
        val client = ZoflClient.open(FakeOpener(device), plainConfig, null, Loss { error("x") })
        assertFailsWith<IllegalStateException> { (device.callbacks.objective as Loss).loss(Anywhere) }
        device.listener.onFault("time", "the round is too short")
        assertNull(client.progress.value.fault!!.cause)
        device.listener.onFault("loss", "record 1: x")
        device.listener.onFault("loss", "record 2: loss is NaN")
        assertNull(client.progress.value.fault!!.cause, "thrown a round before")
    }

    @Test
    fun `the log has class and stack, once`() {
        val records = mutableListOf<LogRecord>()
        val log = Logger.getAnonymousLogger().apply { useParentHandlers = false }
        log.addHandler(object : Handler() {
            override fun publish(record: LogRecord) {
                records += record
            }

            override fun flush() = Unit
            override fun close() = Unit
        })
        val loss = Witness(log).watch(Loss { throw StackOverflowError("deep in the engine") }) as Loss
        repeat(3) { assertFailsWith<StackOverflowError> { loss.loss(Anywhere) } }
        assertEquals("the loss threw java.lang.StackOverflowError: deep in the engine", records.single().message)
        assertIs<StackOverflowError>(records.single().thrown)
    }
}
