package org.zofl.android

import java.io.File
import java.io.IOException
import java.security.GeneralSecurityException
import java.security.InvalidKeyException
import java.security.ProviderException
import javax.crypto.AEADBadTagException

/** Stores this phone's credentials: the text of a creds file or an nkey seed. Thread-safe. */
interface CredentialVault {
    /**
     * The text, or null if none is stored. Throws [ZoflException] if it cannot be read:
     * with code `credentials` if it never can be again, `store` if trying again may help.
     */
    fun load(): String?

    /** Throws [IOException]. */
    fun store(text: String)

    /** Throws [IOException]. */
    fun clear()
}

class MemoryVault(private var text: String? = null) : CredentialVault {
    @Synchronized
    override fun load() = text

    @Synchronized
    override fun store(text: String) {
        this.text = text
    }

    @Synchronized
    override fun clear() {
        text = null
    }
}

/**
 * Stores the text in a file, sealed with a key that is kept elsewhere. If the key is gone
 * or the file is damaged, the user has to enter credentials again. If the old key fails,
 * a new key seals the new ones.
 */
class FileVault(private val file: File, private val seal: GcmSeal) : CredentialVault {
    @Synchronized
    override fun load(): String? {
        if (!file.exists()) return null
        return try {
            seal.open(file.readBytes()).decodeToString()
        } catch (e: AEADBadTagException) {
            throw gone()
        } catch (e: InvalidKeyException) { // such as a key that was invalidated
            throw gone()
        } catch (e: Exception) {
            if (!isOfKeys(e) && e !is IOException) throw e
            throw ZoflException.of("store", "credentials cannot be read: $e: enter them again if this persists")
        }
    }

    private fun gone() = ZoflException.of("credentials", "the stored ones cannot be opened any more: enter them again")

    @Synchronized
    override fun store(text: String) {
        val plain = text.encodeToByteArray()
        val sealed = try {
            seal.seal(plain)
        } catch (e: Exception) {
            if (!isOfKeys(e)) throw e
            withKey { seal.forget(); seal.seal(plain) } // what it sealed before is lost anyway
        }
        writeWhole(file, sealed)
    }

    @Synchronized
    override fun clear() {
        if (file.exists() && !file.delete()) throw IOException("$file cannot be deleted: try again")
        withKey { seal.forget() }
    }
}

/** Phones differ in the exception for a key that fails. */
private fun isOfKeys(e: Exception) = e is GeneralSecurityException || e is ProviderException

private inline fun <T> withKey(use: () -> T): T =
    try {
        use()
    } catch (e: Exception) {
        throw if (isOfKeys(e)) IOException("the key store fails: $e: restart the phone and try again", e) else e
    }
