package org.zofl.android.core

/**
 * Watches the system for as long as somebody needs it. Sessions may overlap for a
 * moment, the second to be told to come back: its end must not blind the first.
 * [start] begins to watch; closing what it gives ends that.
 */
class Watch(private val start: () -> AutoCloseable) {
    private var users = 0
    private var watching: AutoCloseable? = null

    suspend fun <T> during(body: suspend () -> T): T {
        enter()
        try {
            return body()
        } finally {
            leave()
        }
    }

    @Synchronized
    private fun enter() {
        if (users == 0) watching = start()
        users++
    }

    @Synchronized
    private fun leave() {
        if (--users > 0) return
        watching?.close()
        watching = null
    }
}
