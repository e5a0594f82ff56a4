package org.zofl.android.core

import kotlin.concurrent.thread
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.withContext

/**
 * Runs [body], which blocks, on a thread of its own, so that minutes in native
 * code take none of the few threads that coroutines share.
 *
 * A native call cannot be interrupted. Cancellation calls [interrupt], which must
 * make [body] return, and waits until it has: whoever cancels and joins knows that
 * nothing of it runs any more.
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
