import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import zofl.mobile.Chain;
import zofl.mobile.Trust;

/** The trust of this platform, as an app passes it. */
final class PlatformTrust implements Trust {
	private final CertificateFactory certificates = CertificateFactory.getInstance("X.509");
	private final X509TrustManager manager;

	/** The authority's PEM text; null: those that the platform knows. */
	PlatformTrust(String authority) throws Exception {
		KeyStore store = null;
		if (authority != null) {
			store = KeyStore.getInstance(KeyStore.getDefaultType());
			store.load(null, null);
			store.setCertificateEntry("ca", certificate(authority.getBytes(StandardCharsets.US_ASCII)));
		}
		manager = managerOf(store);
	}

	private static X509TrustManager managerOf(KeyStore store) throws Exception {
		TrustManagerFactory factory =
				TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
		factory.init(store);
		for (TrustManager manager : factory.getTrustManagers()) {
			if (manager instanceof X509TrustManager) {
				return (X509TrustManager) manager;
			}
		}
		throw new IllegalStateException("no X509TrustManager");
	}

	private X509Certificate certificate(byte[] text) throws Exception {
		return (X509Certificate) certificates.generateCertificate(new ByteArrayInputStream(text));
	}

	@Override
	public void check(Chain chain) throws Exception {
		X509Certificate[] list = new X509Certificate[(int) chain.len()];
		for (int i = 0; i < list.length; i++) {
			list[i] = certificate(chain.certificate(i));
		}
		manager.checkServerTrusted(list, chain.authType());
	}
}
