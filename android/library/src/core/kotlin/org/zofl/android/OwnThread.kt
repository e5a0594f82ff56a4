package org.zofl.android

import kotlin.concurrent.thread
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.withContext

/**
 * Runs [body], which blocks, on its own thread, so that minutes in native code do not
 * occupy the few threads that coroutines share.
 *
 * A native call cannot be interrupted. Cancellation calls [interrupt], which must make
 * [body] return, and waits until it has. So after cancel and join nothing of it runs.
 */
internal suspend fun <T> onOwnThread(name: String, interrupt: () -> Unit, body: () -> T): T {
    currentCoroutineContext().ensureActive()
    val result = CompletableDeferred<Result<T>>()
    thread(name = name, isDaemon = true) { result.complete(runCatching(body)) }
    try {
        return result.await().getOrThrow()
    } catch (e: CancellationException) {
        interrupt()
        withContext(NonCancellable) { result.await() }
        throw e
    }
}
