package go;

import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * The text of what an app threw, for Go: native code calls it where gobind's would take the message
 * alone. glue.sh adds this class to those that gobind generates.
 */
final class Thrown {
	private static final char SIGN = '\u001f';
	private static final int MOST = 12 << 10; // of the stack; Go cuts a text at 16 KiB

	private Thrown() {}

	/** Returns class, message and stack, with a sign between them that Go knows. */
	static String text(Throwable thrown) {
		String name = thrown.getClass().getName();
		try {
			String message = thrown.getMessage();
			return name + SIGN + (message == null ? "" : message.replace(SIGN, ' ')) + SIGN
					+ stack(thrown);
		} catch (Throwable again) { // its own methods throw, or there is no memory for a text
			return name + SIGN + SIGN;
		}
	}

	/** Returns the calls, and the causes with theirs, as Java prints them below the first line. */
	private static String stack(Throwable thrown) {
		StringWriter all = new StringWriter();
		for (StackTraceElement call : thrown.getStackTrace()) {
			if (all.getBuffer().length() > MOST) {
				return all.append("\t...\n").toString();
			}
			all.append("\tat ").append(call.toString()).append('\n');
		}
		Throwable cause = thrown.getCause();
		if (cause != null) {
			all.append("Caused by: ");
			cause.printStackTrace(new PrintWriter(all, true));
		}
		all.getBuffer().setLength(Math.min(all.getBuffer().length(), MOST));
		return all.toString();
	}
}
