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
import zofl.mobile.BatchObjective;
import zofl.mobile.Client;
import zofl.mobile.Config;
import zofl.mobile.Direct;
import zofl.mobile.Listener;
import zofl.mobile.Mobile;
import zofl.mobile.Probes;

/**
 * A device on a JVM: <code>Device URL RUN ID DIR CAMERA</code>. It takes part until the run ends,
 * then prints a line of JSON.
 */
public final class Device implements BatchObjective, Listener {
	private static final int CLASSES = 10;
	/** Points of a call of the engine, at most: -Dpoints=1 shows what it is worth to give it all. */
	private static final int MOST = Integer.getInteger("points", Integer.MAX_VALUE);

	private final OrtEnvironment env = OrtEnvironment.getEnvironment();
	private final OrtSession session;
	private final byte[] images, labels;
	private final int dim, pixels;
	/** The points of a step, direct: Go writes them in place, and the engine reads them there. */
	private ByteBuffer points = ByteBuffer.allocateDirect(0);
	private FloatBuffer adapters;
	private double speed; // losses a second, in the quickest step: others wait for the machine

	private Device(Path dir, String camera) throws IOException, OrtException {
		OrtSession.SessionOptions options = new OrtSession.SessionOptions();
		options.setIntraOpNumThreads(1);
		session = env.createSession(dir.resolve("model.onnx").toString(), options);
		dim = (int) shape("adapters")[1];
		pixels = (int) shape("images")[1];
		images = Files.readAllBytes(dir.resolve(camera + ".images"));
		labels = Files.readAllBytes(dir.resolve(camera + ".labels"));
	}

	private long[] shape(String input) throws OrtException {
		return ((TensorInfo) session.getInputInfo().get(input).getInfo()).getShape();
	}

	/** The mean cross-entropies on a minibatch, which the round's seed alone decides. */
	@Override
	public void losses(Probes probes) throws Exception {
		long began = System.nanoTime();
		int count = (int) probes.count();
		if (points.capacity() != 4 * count * dim) {
			points = ByteBuffer.allocateDirect(4 * count * dim).order(ByteOrder.nativeOrder());
			adapters = points.asFloatBuffer();
		}
		Direct.readAll(probes, 0, dim, points);
		int[] some = draw((int) probes.batchSize(), probes.batchSeed());
		for (int probe = 0; probe < count; ) {
			for (double loss : measure(probe, Math.min(MOST, count - probe), some)) {
				probes.setLoss(probe++, loss);
			}
		}
		speed = Math.max(speed, count * 1e9 / (System.nanoTime() - began));
	}

	/** The losses at consecutive points, by one call of the engine. */
	private double[] measure(int first, int count, int[] some) throws OrtException {
		ByteBuffer seen = ByteBuffer.allocateDirect(some.length * pixels);
		for (int i : some) {
			seen.put(images, i * pixels, pixels);
		}
		long[] shape = {some.length, pixels};
		long[] matrix = {count, dim};
		FloatBuffer these = adapters.limit((first + count) * dim).position(first * dim).slice();
		try (OnnxTensor x = OnnxTensor.createTensor(env, seen.flip(), shape, OnnxJavaType.UINT8);
				OnnxTensor a = OnnxTensor.createTensor(env, these, matrix);
				OrtSession.Result out = session.run(Map.of("images", x, "adapters", a))) {
			FloatBuffer logits = ((OnnxTensor) out.get(0)).getFloatBuffer();
			double[] losses = new double[count];
			for (int i = 0; i < count * some.length; i++) {
				int label = labels[some[i % some.length]];
				losses[i / some.length] += crossEntropy(logits, i * CLASSES, label) / some.length;
			}
			return losses;
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
		config.setBatchObjective(this);
		config.setListener(this);
		Client client = Mobile.newClient(config);
		client.run();
		byte[] digest = new byte[32];
		long n = client.digest(digest);
		System.out.printf("{\"id\":\"%s\",\"n\":%d,\"digest\":\"%s\",", id, n,
				HexFormat.of().formatHex(digest));
		System.out.printf("\"rounds\":%d,\"sent\":%d,\"received\":%d,\"speed\":%.0f}%n",
				client.contributions(), client.bytesSent(), client.bytesReceived(), speed);
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
