import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import zofl.mobile.Chain;
import zofl.mobile.Client;
import zofl.mobile.Config;
import zofl.mobile.Direct;
import zofl.mobile.Evaluation;
import zofl.mobile.Mobile;
import zofl.mobile.Model;
import zofl.mobile.Plan;
import zofl.mobile.Probes;
import zofl.mobile.Round;
import zofl.mobile.Segment;

/** Calls every method of every class with arguments that make no sense, from several threads. */
final class Everything {
	private static final long[] NUMBERS = {0, -1, 1, 7, Integer.MIN_VALUE, Integer.MAX_VALUE,
		1L << 32, Long.MIN_VALUE, Long.MAX_VALUE};
	private static final double[] FLOATS = {0, -1, Double.NaN, Double.NEGATIVE_INFINITY,
		Double.MAX_VALUE, Double.MIN_VALUE};
	private static final String[] TEXTS = {null, "", "\0", "\ud800", "\udc00\ud800", "../..",
		new String(new char[1 << 16]).replace('\0', 'x'), "zofl:?v=1", "tls://[", "S", "sha256/x"};
	private static final int KINDS = 24; // of arguments, so that all of the above come up

	private Everything() {}

	static void everything(Misfortune m) throws Exception {
		Object[] targets = {new Chain(), new Config(), new Evaluation(), new Model(),
			new Plan(), new Probes(), new Round(), new Segment(), Mobile.newConfig(), made(m)};
		List<String> errors = Collections.synchronizedList(new ArrayList<>());
		AtomicInteger calls = new AtomicInteger();
		Thread[] callers = new Thread[4];
		for (int i = 0; i < callers.length; i++) {
			int first = i * KINDS / callers.length;
			callers[i] = new Thread(() -> {
				for (int kind = first; kind < first + KINDS / callers.length; kind++) {
					for (Object target : targets) {
						calls.addAndGet(all(target.getClass(), target, kind, errors));
					}
					calls.addAndGet(all(Mobile.class, null, kind, errors));
					calls.addAndGet(all(Direct.class, null, kind, errors));
				}
			});
			callers[i].start();
		}
		for (Thread t : callers) {
			t.join();
		}
		m.note("errors", String.join("; ", errors));
		m.note("enough", calls.get() > 1000);
	}

	/** A client that no server knows. */
	private static Client made(Misfortune m) throws Exception {
		Config c = m.config();
		c.setObjective(x -> 0);
		return Mobile.newClient(c);
	}

	/** Calls the methods of a class but those that wait, and returns how many. */
	private static int all(Class<?> type, Object target, int kind, List<String> errors) {
		int calls = 0;
		for (Method method : type.getDeclaredMethods()) {
			if (!Modifier.isPublic(method.getModifiers()) || method.isSynthetic()
					|| method.getName().startsWith("run") || method.getName().equals("incRefnum")) {
				continue;
			}
			calls++;
			try {
				method.invoke(target, arguments(method, kind));
			} catch (InvocationTargetException e) {
				if (!(e.getCause() instanceof Exception)) {
					errors.add(method + ": " + e.getCause());
				} else if (Mobile.CodePanic.equals(Mobile.errorCode(e.getCause().getMessage()))) {
					errors.add(method + ": " + e.getCause().getMessage());
				}
			} catch (IllegalAccessException e) {
				errors.add(method + ": " + e);
			}
		}
		return calls;
	}

	private static Object[] arguments(Method method, int kind) {
		Class<?>[] types = method.getParameterTypes();
		Object[] list = new Object[types.length];
		for (int i = 0; i < list.length; i++) {
			int at = kind + i;
			if (types[i] == long.class) {
				list[i] = NUMBERS[at % NUMBERS.length];
			} else if (types[i] == double.class) {
				list[i] = FLOATS[at % FLOATS.length];
			} else if (types[i] == boolean.class) {
				list[i] = at % 2 == 0;
			} else if (types[i] == String.class) {
				list[i] = TEXTS[at % TEXTS.length];
			} else if (types[i] == byte[].class && at % 3 > 0) {
				list[i] = new byte[at % 3 == 1 ? 0 : at];
			}
		}
		return list; // of others null
	}
}
