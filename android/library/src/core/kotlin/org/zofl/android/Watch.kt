package org.zofl.android

/**
 * Watches the system as long as anybody needs it. Sessions may overlap for a moment, until
 * the second is turned away; its end must not stop the watch of the first. [start] begins
 * to watch, and closing its result ends the watch.
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
