package org.zofl.android

import kotlin.reflect.KClass
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertSame

class ZoflExceptionTest {
    private val classes: Map<String, KClass<out ZoflException>> = mapOf(
        "config" to ZoflException.Settings::class,
        "insecure" to ZoflException.Settings::class,
        "credentials" to ZoflException.Access::class,
        "offline" to ZoflException.Connection::class,
        "quiet" to ZoflException.Connection::class,
        "unauthorized" to ZoflException.Access::class,
        "tls" to ZoflException.Connection::class,
        "permission" to ZoflException.Access::class,
        "refused" to ZoflException.Access::class,
        "dim" to ZoflException.Settings::class,
        "initial" to ZoflException.Settings::class,
        "plan" to ZoflException.Settings::class,
        "runkey" to ZoflException.Access::class,
        "upgrade" to ZoflException.Outdated::class,
        "running" to ZoflException.Occupied::class,
        "stopped" to ZoflException.Stopped::class,
        "store" to ZoflException.Storage::class,
        "locked" to ZoflException.Occupied::class,
        "revoked" to ZoflException.Round::class,
        "loss" to ZoflException.Round::class,
        "time" to ZoflException.Round::class,
        "busy" to ZoflException.Round::class,
        "policy" to ZoflException.Round::class,
        "diverged" to ZoflException.Round::class,
        "fault" to ZoflException.Internal::class,
        "panic" to ZoflException.Internal::class,
    )

    @Test
    fun `every code has a class`() {
        for ((code, kind) in classes) {
            val e = ZoflException.of(Exception("$code: what: remedy\nmore"))
            assertEquals(kind, e::class, code)
            assertEquals(code, e.code)
            assertEquals("what: remedy\nmore", e.detail)
        }
    }

    @Test
    fun `other messages are internal`() {
        for (message in listOf("no code", "Unknown: x", "", "http://x: y")) {
            val e = ZoflException.of(Exception(message))
            assertEquals(ZoflException.Internal::class, e::class, message)
            assertEquals(message, e.detail)
        }
        assertEquals("unknown", ZoflException.of(NullPointerException()).code)
    }

    @Test
    fun `a translated error is not changed again`() {
        val e = ZoflException.of("tls", "x")
        assertSame(e, ZoflException.of(e))
    }
}
