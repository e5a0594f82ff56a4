package wiretest

import "math"

// leads returns the vectors of leads: version, instance, epoch, uptime.
func leads() []Vector {
	s := &set{frame: "lead"}
	fields := []Value{Uint(1), Bin(Seq(0xe0, 8)...), Uint(3), Uint(86_400_000)}
	s.add("day", "ok", "a coordinator that has run for a day, in epoch 3", Array(fields...))
	s.add("first", "ok", "one that has just begun", with(fields, 3, Uint(0)))
	s.common(fields)
	s.add("instance-short", "form", "7 bytes", with(fields, 1, Bin(Seq(0xe0, 7)...)))
	s.add("instance-string", "form", "an instance as a string",
		with(fields, 1, Str("instance")))
	s.add("instance-bomb", "limit", "an instance of 2^32-1 bytes", with(fields, 1, binBomb))
	s.add("epoch-over", "limit", "2^63", with(fields, 2, Uint(math.MaxInt64+1)))
	s.add("uptime-over", "limit", "2^63 milliseconds", with(fields, 3, Uint(math.MaxInt64+1)))
	s.add("cut", "truncated", "ends within the instance", Array(fields...)[:6])
	return s.list
}
