/* ---- texts ---- */

const char *zofl_error(int code) {
	static const char *const texts[] = {
	    "no error",
	    "truncated: the message ends before its fields do",
	    "form: the message is not of the form that docs/wire.md gives",
	    "limit: a length or a number of the message is beyond its limit",
	    "value: the message has a value that its field cannot have",
	    "upgrade: the message is of a later version",
	    "the device's records are not those of the run's log",
	    "refused: no run may have this, or the coordinator does not take this device",
	    "the plan needs what this build has not: zofl_explain names the field",
	    "a buffer is too short: zofl_explain names it",
	    "the call does not fit what the device does now",
	    "the arithmetic is not that of IEEE 754: see zofl_fault, and never use -ffast-math",
	    "the secret is not the run's",
	    "the state file is damaged",
	};
	int n = (int)(sizeof texts / sizeof texts[0]);
	return code > 0 ? texts[0] : -code < n ? texts[-code] : "an unknown error";
}

int zofl_explain(const zofl_device *d, char *out, size_t room) {
	if (room == 0)
		return 0;
	out[0] = 0;
	if (d->r.plan.unsupported || d->r.plan.refused)
		plan_explain(&d->r.plan, out, room);
	else
		add_string(out, room, d->said);
	return (int)strlen(out);
}
