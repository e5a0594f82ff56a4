import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import zofl.mobile.BlockObjective;
import zofl.mobile.Client;
import zofl.mobile.Config;
import zofl.mobile.Listener;
import zofl.mobile.Mobile;
import zofl.mobile.Round;

/**
 * A device on a JVM: <code>Device URL RUN ID DIR CAMERA</code>. It takes part until the run ends,
 * then prints a line of JSON.
 */
public final class Device implements BlockObjective, Listener {
	private static final int CLASSES = 10;

	private final OrtEnvironment env = OrtEnvironment.getEnvironment();
	private final OrtSession session;
	private final byte[] images, labels;
	private final int dim, pixels;
	private final byte[] adapters;

	private Device(Path dir, String camera) throws IOException, OrtException {
		OrtSession.SessionOptions options = new OrtSession.SessionOptions();
		options.setIntraOpNumThreads(1);
		session = env.createSession(dir.resolve("model.onnx").toString(), options);
		dim = (int) shape("adapters")[1];
		pixels = (int) shape("images")[1];
		images = Files.readAllBytes(dir.resolve(camera + ".images"));
		labels = Files.readAllBytes(dir.resolve(camera + ".labels"));
		adapters = new byte[4 * dim];
	}

	private long[] shape(String input) throws OrtException {
		return ((TensorInfo) session.getInputInfo().get(input).getInfo()).getShape();
	}

	/** The mean cross-entropy on a minibatch, which the round's seed alone decides. */
	@Override
	public double loss(Round round) throws Exception {
		round.readParams(0, adapters);
		ByteBuffer little = ByteBuffer.wrap(adapters).order(ByteOrder.LITTLE_ENDIAN);
		int[] some = draw((int) round.batchSize(), round.batchSeed());
		ByteBuffer seen = ByteBuffer.allocateDirect(some.length * pixels);
		for (int i : some) {
			seen.put(images, i * pixels, pixels);
		}
		long[] shape = {some.length, pixels};
		long[] one = {1, dim};
		try (OnnxTensor x = OnnxTensor.createTensor(env, seen.flip(), shape, OnnxJavaType.UINT8);
				OnnxTensor a = OnnxTensor.createTensor(env, little.asFloatBuffer(), one);
				OrtSession.Result out = session.run(Map.of("images", x, "adapters", a))) {
			FloatBuffer logits = ((OnnxTensor) out.get(0)).getFloatBuffer();
			double sum = 0;
			for (int i = 0; i < some.length; i++) {
				sum += crossEntropy(logits, i * CLASSES, labels[some[i]]);
			}
			return sum / some.length;
		}
	}

	/** The pictures of a minibatch. */
	private int[] draw(int size, long seed) {
		int[] all = new int[labels.length];
		for (int i = 0; i < all.length; i++) {
			all[i] = i;
		}
		if (size == 0 || size >= all.length) {
			return all;
		}
		Random random = new Random(seed);
		for (int i = 0; i < size; i++) {
			int j = i + random.nextInt(all.length - i), other = all[j];
			all[j] = all[i];
			all[i] = other;
		}
		return Arrays.copyOf(all, size);
	}

	private static double crossEntropy(FloatBuffer logits, int at, int label) {
		double most = Double.NEGATIVE_INFINITY, sum = 0;
		for (int c = 0; c < CLASSES; c++) {
			most = Math.max(most, logits.get(at + c));
		}
		for (int c = 0; c < CLASSES; c++) {
			sum += Math.exp(logits.get(at + c) - most);
		}
		return most + Math.log(sum) - logits.get(at + label);
	}

	private void takePart(String url, String run, String id) throws Exception {
		Config config = Mobile.newConfig();
		config.setRun(run);
		config.setDevice(id);
		config.setDim(dim);
		config.setSamples(labels.length);
		config.addServer(url);
		config.setPlaintext(true); // loopback only: tls:// elsewhere
		config.setBlockObjective(this);
		config.setListener(this);
		Client client = Mobile.newClient(config);
		client.run();
		byte[] digest = new byte[32];
		long n = client.digest(digest);
		System.out.printf("{\"id\":\"%s\",\"n\":%d,\"digest\":\"%s\",", id, n,
				HexFormat.of().formatHex(digest));
		System.out.printf("\"rounds\":%d,\"sent\":%d,\"received\":%d}%n", client.contributions(),
				client.bytesSent(), client.bytesReceived());
	}

	@Override
	public void onState(long state, String reason) {}

	@Override
	public void onProgress(long record, long last, long round, long contributions, double loss) {}

	@Override
	public void onFault(String code, String message) {
		System.err.println(code + ": " + message);
	}

	public static void main(String[] args) {
		int code = 1;
		try {
			new Device(Paths.get(args[3]), args[4]).takePart(args[0], args[1], args[2]);
			code = 0;
		} catch (Throwable e) {
			e.printStackTrace();
		}
		System.exit(code); // Go's threads would keep the JVM alive
	}
}
