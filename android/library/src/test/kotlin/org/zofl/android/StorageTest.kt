package org.zofl.android

import java.io.File
import java.io.IOException
import java.security.ProviderException
import java.security.UnrecoverableKeyException
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import kotlin.test.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertNotEquals
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.io.TempDir

class StorageTest {
    @TempDir
    lateinit var dir: File

    private class MemoryKey : KeySource {
        private var key: SecretKey? = null

        override fun key() = key ?: KeyGenerator.getInstance("AES").apply { init(256) }.generateKey().also { key = it }

        override fun forget() {
            key = null
        }
    }

    private val keys = MemoryKey()
    private val file get() = File(dir, "credentials")
    private val secret = "-----BEGIN NATS USER JWT-----"

    @Test
    fun `credentials can be loaded and are not readable on disk`() {
        val vault = FileVault(file, GcmSeal(keys))
        assertNull(vault.load())
        vault.store(secret)
        assertEquals(secret, FileVault(file, GcmSeal(keys)).load())
        assertFalse(String(file.readBytes(), Charsets.ISO_8859_1).contains("NATS"))
        val first = file.readBytes()
        vault.store(secret)
        assertFalse(first.contentEquals(file.readBytes()), "a nonce was used twice")
        assertEquals(listOf("credentials"), dir.list()!!.toList())
    }

    @Test
    fun `after a lost key or a damaged file credentials are needed`() {
        val vault = FileVault(file, GcmSeal(keys)).apply { store(secret) }
        val whole = file.readBytes()
        for (i in whole.indices) {
            file.writeBytes(whole.copyOf().also { it[i] = (it[i] + 1).toByte() })
            assertGone("byte $i was changed") { vault.load() }
        }
        for (n in whole.indices) {
            file.writeBytes(whole.copyOf(n))
            assertGone("$n bytes were left") { vault.load() }
        }
        file.writeBytes(whole)
        assertEquals(secret, vault.load())
        keys.forget()
        assertGone("the key is gone") { vault.load() }
        vault.store(secret)
        assertEquals(secret, vault.load())
    }

    private fun assertGone(why: String, load: () -> String?) {
        assertEquals("credentials", assertFailsWith<ZoflException.Access>(why) { load() }.code)
    }

    /** A Keystore whose entry is damaged: it fails until it is deleted, or for good. */
    private inner class BrokenKey(private val failure: Exception, private val forGood: Boolean = false) : KeySource {
        private var broken = true

        override fun key(): SecretKey = if (broken) throw failure else keys.key()

        override fun forget() {
            broken = forGood
        }
    }

    @Test
    fun `new credentials replace a key that fails`() {
        for (failure in listOf(UnrecoverableKeyException("x"), ProviderException("x"))) {
            FileVault(file, GcmSeal(keys)).store("old")
            val vault = FileVault(file, GcmSeal(BrokenKey(failure)))
            assertFailsWith<ZoflException.Storage> { vault.load() } // it may be temporary
            vault.store(secret)
            assertEquals(secret, vault.load())
            val e = assertFailsWith<IOException> { FileVault(file, GcmSeal(BrokenKey(failure, forGood = true))).store("new") }
            assertTrue("try again" in e.message!!, e.message)
            assertEquals(secret, vault.load())
        }
    }

    @Test
    fun `a model can be loaded, with its size only`() {
        val models = ModelFile(File(dir, "model"))
        assertNull(models.load(3))
        models.store(Model(7, floatArrayOf(1f, -0.5f, 3e-9f)))
        assertEquals(7, models.load(3)!!.record)
        assertContentEquals(floatArrayOf(1f, -0.5f, 3e-9f), models.load(3)!!.values)
        assertNull(models.load(4))
    }

    @Test
    fun `each run has its own folder below the root`() {
        val state = StateFolder(dir)
        assertEquals(File(dir, "digits-1"), state.of("digits-1"))
        assertEquals(dir, state.of("../../etc/x").parentFile)
    }

    @Test
    fun `delete my data leaves nothing`() = runTest {
        val settings = MemorySettings(Settings(server = "tls://h", run = "r").optIn())
        val device = settings.settings.value.device
        val vault = FileVault(file, GcmSeal(keys)).apply { store(secret) }
        val state = StateFolder(File(dir, "state"))
        File(state.of("r"), "deep").mkdirs()
        val model = ModelFile(File(dir, "model")).apply { store(Model(1, floatArrayOf(1f))) }
        var stopped = false
        MyData(settings, vault, state, model) {
            assertFalse(settings.settings.value.optedIn, "training could start again")
            assertTrue(state.of("r").exists(), "deleted under a running client")
            stopped = true
        }.delete()
        assertTrue(stopped)
        assertEquals(emptyList(), dir.list()!!.toList())
        assertEquals(Settings(), settings.settings.value)
        assertNotEquals(device, settings.settings.value.optIn().device)
    }

    /** Everything that "delete my data" must delete, for a user who opted in. */
    private inner class UserData(val settings: SettingsStore = MemorySettings(Settings(server = "tls://h", run = "r").optIn())) {
        val state = StateFolder(File(dir, "state")).also { File(it.of("r"), "deep").mkdirs() }
        val model = ModelFile(File(dir, "model")).apply { store(Model(1, floatArrayOf(1f))) }

        fun myData(vault: CredentialVault, stop: suspend () -> Unit = {}) = MyData(settings, vault, state, model, stop)
    }

    @Test
    fun `a failure to delete one thing does not stop the others`() = runTest {
        val kept = UserData()
        val stuck = object : CredentialVault by MemoryVault(secret) {
            override fun clear() = throw IOException("the key store fails")
        }
        assertEquals("the key store fails", assertFailsWith<IOException> { kept.myData(stuck).delete() }.message)
        assertEquals(emptyList(), dir.list()!!.toList())
        assertEquals(Settings(deleting = true), kept.settings.settings.value)
        val vault = MemoryVault(secret)
        kept.myData(vault).resume() // the next process, with a working key store
        assertNull(vault.load())
        assertEquals(Settings(), kept.settings.settings.value)
    }

    @Test
    fun `a user who returns gets a new name`() = runTest {
        val kept = UserData()
        val before = kept.settings.settings.value.device
        val vault = MemoryVault(secret)
        var works = false
        val stuck = object : CredentialVault by vault {
            override fun clear() = if (works) vault.clear() else throw IOException("the key store fails")
        }
        val data = kept.myData(stuck)
        assertFailsWith<IOException> { data.delete() }
        assertFailsWith<IOException> { data.optIn() }
        assertFalse(kept.settings.settings.value.optedIn, "with what was to be deleted")
        works = true
        data.optIn()
        assertNull(vault.load())
        val now = kept.settings.settings.value
        assertTrue(now.optedIn && !now.deleting && now.device.isNotEmpty() && now.device != before)
    }

    @Test
    fun `the next process finishes a deletion`() = runTest {
        val kept = UserData()
        val vault = MemoryVault(secret)
        assertFailsWith<IllegalStateException> { kept.myData(vault) { error("the process dies here") }.delete() }
        assertEquals(secret, vault.load())
        val next = decodeSettings(kept.settings.settings.value.encode()::get)
        assertFalse(next.optedIn)
        val reborn = UserData(MemorySettings(next))
        reborn.myData(vault).resume()
        assertNull(vault.load())
        assertEquals(emptyList(), dir.list()!!.toList())
        assertEquals(Settings(), reborn.settings.settings.value)
    }

    @Test
    fun `nothing is deleted without being asked`() = runTest {
        val kept = UserData()
        kept.myData(MemoryVault(secret)).resume()
        assertEquals(1, kept.model.load(1)!!.record)
        assertTrue(kept.settings.settings.value.optedIn)
    }

    @Test
    fun `a full disk does not prevent deletion`() = runTest {
        val full = FullSettings(MemorySettings(Settings(server = "tls://h", run = "r").optIn()))
        val kept = UserData(full)
        full.full = true
        var stopped = false
        assertFailsWith<IOException> { kept.myData(MemoryVault(secret)) { stopped = true }.delete() }
        assertTrue(stopped)
        assertEquals(emptyList(), dir.list()!!.toList())
        assertEquals(Settings(), full.settings.value)
    }

    @Test
    fun `a phone's name fits a run and stays`() {
        val settings = Settings().optIn()
        assertTrue(Regex("[A-Za-z0-9_-]{1,32}").matches(settings.device), settings.device)
        assertEquals(settings.device, settings.copy(optedIn = false).optIn().device)
    }
}
