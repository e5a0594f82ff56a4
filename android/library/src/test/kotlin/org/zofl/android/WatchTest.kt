package org.zofl.android

import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking

class WatchTest {
    private val calls = mutableListOf<String>()
    private val watch = Watch {
        calls += "start"
        AutoCloseable { calls += "stop" }
    }

    @Test
    fun `the end of a second session does not stop the first one's watch`() = runBlocking<Unit> {
        val end = CompletableDeferred<Unit>()
        val first = async(start = CoroutineStart.UNDISPATCHED) { watch.during { end.await() } }
        assertEquals(7, watch.during { 7 })
        assertEquals(listOf("start"), calls)
        end.complete(Unit)
        first.await()
        assertEquals(listOf("start", "stop"), calls)
    }

    @Test
    fun `the watch ends with a body that fails, and can begin again`() = runBlocking<Unit> {
        assertFailsWith<IllegalStateException> { watch.during { error("x") } }
        watch.during { }
        assertEquals(listOf("start", "stop", "start", "stop"), calls)
    }

    @Test
    fun `a watch that failed to begin is not in use`() = runBlocking<Unit> {
        var broken = true
        val fragile = Watch { if (broken) error("too many callbacks") else AutoCloseable { calls += "stop" } }
        assertFailsWith<IllegalStateException> { fragile.during { } }
        broken = false
        fragile.during { }
        assertEquals(listOf("stop"), calls)
    }
}
