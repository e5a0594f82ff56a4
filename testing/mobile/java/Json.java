import java.util.Map;

/** Prints one JSON object per line. */
final class Json {
	private Json() {}

	/** Prints an object of names and values: text, numbers, booleans. */
	static synchronized void say(Map<String, Object> values) {
		StringBuilder b = new StringBuilder("{");
		for (Map.Entry<String, Object> e : values.entrySet()) {
			b.append(b.length() > 1 ? "," : "").append(quote(e.getKey())).append(':');
			b.append(number(e.getValue()) ? e.getValue().toString() : quote(String.valueOf(e.getValue())));
		}
		System.out.println(b.append('}'));
		System.out.flush();
	}

	private static boolean number(Object value) {
		if (value instanceof Double) {
			return !((Double) value).isNaN() && !((Double) value).isInfinite();
		}
		return value instanceof Number || value instanceof Boolean;
	}

	private static String quote(String text) {
		StringBuilder b = new StringBuilder("\"");
		for (char c : text.toCharArray()) {
			if (c == '"' || c == '\\') {
				b.append('\\').append(c);
			} else if (c < ' ' || c > '~') {
				b.append(String.format("\\u%04x", (int) c));
			} else {
				b.append(c);
			}
		}
		return b.append('"').toString();
	}
}
