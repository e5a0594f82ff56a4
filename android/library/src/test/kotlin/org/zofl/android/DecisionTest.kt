package org.zofl.android

import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertIs

class DecisionTest {
    private fun after(code: String, attempt: Int = 0) = Decision.after(ZoflException.of(code, "x"), attempt)

    @Test
    fun `a problem that only the user can cure halts`() {
        for (code in listOf("config", "insecure", "dim", "initial", "plan", "credentials", "unauthorized",
            "permission", "refused", "runkey", "upgrade")) {
            assertIs<Outcome.Halted>(after(code), code)
        }
    }

    @Test
    fun `a temporary problem is tried again a few times`() {
        for (code in listOf("offline", "tls", "running", "locked", "stopped", "store", "panic", "fault", "time", "new")) {
            assertIs<Outcome.Retry>(after(code), code)
        }
        assertIs<Outcome.More>(after("offline", Decision.MAX_ATTEMPTS))
        // The charger may have been unplugged that often, with the disk full for the first time.
        assertIs<Outcome.More>(after("store", Decision.MAX_ATTEMPTS))
    }

    @Test
    fun `a denial waits or halts`() {
        assertEquals(Outcome.Retry("warm"), Decision.denied(Permit.Denied("warm"), 0))
        assertEquals(Outcome.More("given up for now: warm"), Decision.denied(Permit.Denied("warm"), Decision.MAX_ATTEMPTS))
        assertEquals(Outcome.Halted("off"), Decision.denied(Permit.Denied("off", patience = false), 0))
    }

    @Test
    fun `a return is judged by the state it ended in`() {
        val fault = ZoflException.of("unauthorized", "user is unknown")
        val offline = Progress(DeviceState.OFFLINE, fault = fault)
        assertIs<Outcome.Finished>(Decision.after(offline, ended = true, attempt = 0))
        assertIs<Outcome.Halted>(Decision.after(offline, ended = false, attempt = 0))
        val unheard = Progress(DeviceState.JOINING, fault = ZoflException.of("quiet", "no coordinator answers"))
        assertEquals(Outcome.Retry("no coordinator answers"), Decision.after(unheard, ended = false, attempt = 0))
        // A fault that is over.
        assertIs<Outcome.More>(Decision.after(Progress(DeviceState.WAITING, fault = fault), ended = false, attempt = 0))
        assertIs<Outcome.More>(Decision.after(Progress(DeviceState.OFFLINE), ended = false, attempt = 0))
    }
}
