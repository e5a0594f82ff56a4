package org.zofl.android

/**
 * An error of the native library, classified by what an app can do about it. [code] is the
 * first word of its message, [detail] the rest: field, value and remedy.
 */
sealed class ZoflException(val code: String, val detail: String) : Exception("$code: $detail") {
    /** A setting cannot be used or does not fit the run: the developer or operator must correct it. */
    class Settings(code: String, detail: String) : ZoflException(code, detail)

    /** The server does not let this device in: new credentials are needed. */
    class Access(code: String, detail: String) : ZoflException(code, detail)

    /** Server or coordinator cannot be reached, or the server's identity is not proved, as behind a captive portal. */
    class Connection(code: String, detail: String) : ZoflException(code, detail)

    /** The run is newer than this app. */
    class Outdated(code: String, detail: String) : ZoflException(code, detail)

    /** Another client uses the state, or this one is running already. */
    class Occupied(code: String, detail: String) : ZoflException(code, detail)

    /** The device was stopped: open a new one. */
    class Stopped(code: String, detail: String) : ZoflException(code, detail)

    /** The disk is full or damaged. */
    class Storage(code: String, detail: String) : ZoflException(code, detail)

    /** A round was declined or lost. Nothing to do, but look into many of the same kind. */
    class Round(code: String, detail: String) : ZoflException(code, detail)

    /** A bug, or a code that this version does not know. */
    class Internal(code: String, detail: String) : ZoflException(code, detail)

    companion object {
        private val shape = Regex("^([a-z]+): (.*)$", RegexOption.DOT_MATCHES_ALL)

        /** The exception for what a native call threw. */
        fun of(cause: Throwable): ZoflException {
            if (cause is ZoflException) return cause
            val message = cause.message ?: cause.toString()
            val parts = shape.find(message)?.groupValues
            val made = if (parts == null) Internal("unknown", message) else of(parts[1], parts[2])
            return made.also { it.initCause(cause) }
        }

        /** The exception for a code and its message. */
        fun of(code: String, detail: String): ZoflException = when (code) {
            "config", "insecure", "dim", "initial", "plan" -> Settings(code, detail)
            "credentials", "unauthorized", "permission", "refused", "runkey" -> Access(code, detail)
            "offline", "quiet", "tls" -> Connection(code, detail)
            "upgrade" -> Outdated(code, detail)
            "running", "locked" -> Occupied(code, detail)
            "stopped" -> Stopped(code, detail)
            "store" -> Storage(code, detail)
            "loss", "time", "busy", "policy", "diverged", "revoked" -> Round(code, detail)
            else -> Internal(code, detail)
        }
    }
}
