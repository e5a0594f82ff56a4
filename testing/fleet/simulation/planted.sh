#!/usr/bin/env bash
# Plants bugs in a copy of the production code, one at a time. Fails unless the simulator
# finds each of them, and finds nothing in the original.
#
#   planted.sh            all bugs, each within 10,000 seeds, or 2,000 of some kinds of faults
#   planted.sh NAME       one bug
#   planted.sh --apply    checks only that each bug applies and compiles
#   planted.sh --texts    checks only that each bug applies, in a second
set -euo pipefail
cd "$(dirname "$0")/../../.."
export GOWORK=off

seeds=10000
only=${1:-} apply= texts=
[ "$only" != --apply ] || only='' apply=yes
[ "$only" != --texts ] || only='' apply=yes texts=yes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$texts" ] || tar -c --exclude=./.git . | tar -x -C "$work"

fail() { printf 'planted.sh: %s\n' "$*" >&2; exit 1; }

# simulate: seeds with all kinds of faults, or only with the kind $fault, and often.
fault=
simulate() {
	go -C "$work/testing" test ./fleet/simulation -count=1 -run 'TestSeeds$' -only "$fault" \
		-seeds "$([ -z "$fault" ] && echo "$seeds" || echo 2000)" >"$work/out" 2>&1
}

# under FAULT plant ...: the simulator finds the bug in seeds with this kind of fault.
under() {
	fault=$1
	shift
	"$@"
	fault=
}

# plant NAME FILE OLD NEW [OLD NEW]...: replaces each OLD, which must occur in FILE exactly once.
plant() {
	local name=$1 file=$2 found
	[ -z "$only" ] || [ "$only" = "$name" ] || return 0
	if [ -n "$texts" ]; then mkdir -p "$work/${file%/*}" && cp "$file" "$work/$file"; fi
	cp "$work/$file" "$work/original"
	shift 2
	while [ $# -gt 0 ]; do
		OLD=$1 NEW=$2 perl -0pi -e \
			'my $n = s/\Q$ENV{OLD}\E/$ENV{NEW}/g; exit 9 if $n != 1' "$work/$file" ||
			fail "$name: $file does not have this text exactly once: $1"
		shift 2
	done
	[ -n "$texts" ] || go -C "$work" build ./... || fail "$name: the bug does not compile"
	if [ -n "$apply" ]; then
		found=applies
	else
		! simulate || fail "$name: not found within the seeds${fault:+ with the fault '$fault'}"
		found=$(grep -m1 -o 'seed [0-9]*, step [0-9-]*: .*' "$work/out") ||
			{ cat "$work/out" >&2; fail "$name: no finding"; }
	fi
	printf '%-34s %.140s\n' "$name" "$found"
	cp "$work/original" "$work/$file"
}

if [ -z "$only$apply" ]; then
	simulate || { cat "$work/out" >&2; fail "a finding without a planted fault"; }
fi

plant skip-dedup coordinator/internal/engine/reply.go \
	'if c.cohort.Contributed(m) {' \
	'if c.cohort.Contributed(m) && len(r.Values) == 0 {'
plant announce-before-commit coordinator/perform.go \
	'	in.Err = c.store(ctx, o)
' \
	'	early := c.step(in)
	for _, e := range early {
		if e.Kind == engine.OutAnnounce {
			_ = c.announce(e.Frame)
		}
	}
	if in.Err = c.store(ctx, o); in.Err == nil {
		return early
	}
'
plant reuse-index-after-rollback coordinator/runlog/position.go \
	'		plan, rounds, point = p.history.at(r.To)
' \
	'		plan, rounds, point = p.history.at(r.To)
		end.N = r.To
'
plant miscount coordinator/internal/gather/tally.go \
	'		t.sums[i].Add(values[i], weight)
	}
	t.Weight += uint64(weight)
	t.Count++
' \
	'		t.sums[i].Add(values[i], weight)
	}
	t.Weight += uint64(weight)
	t.Count += 2
'
plant relay-for-another coordinator/internal/gather/relayed.go \
	'Scalars: scalars(from.at)}' \
	'Scalars: scalars(i)}'
plant forget-phase-after-rollback coordinator/runlog/position.go \
	'plan, rounds, point = p.history.at(r.To)' \
	'plan, rounds, _ = p.history.at(r.To)'
plant correct-twice coordinator/internal/gather/control.go \
	'sums[i].Add(values[i], weight)' \
	'sums[i].Add(values[i], weight+1)'
plant correct-by-uncounted client/internal/outbox/variate.go \
	'return counted && r.Round.StepSize == s.step' \
	'return counted || len(r.Round.Slots) > 0'
plant ignore-quorum coordinator/internal/quorum/quorum.go \
	'return q.Have >= q.Least && !q.Must' \
	'return q.Have > 0 && !q.Must'
plant conflict-taken-for-success coordinator/internal/engine/conflict.go \
	'	if bytes.Equal(stored, c.next.frame) {' \
	'	if bytes.Equal(stored, c.next.frame) || len(stored) > 0 {'
plant append-without-sync coordinator/filelog/tailfile.go \
	'	return f.file.Sync()
' \
	'	return nil
'
plant epoch-not-stored coordinator/filelog/filelog.go \
	'if err := writeEpoch(f.fs, f.path("epoch"), epoch); err != nil {' \
	'if err := error(nil); err != nil {'
plant send-before-persist client/scalars.go \
	'	frame, fault, err := c.promise(round.a, r)
	if fault != nil || err != nil {
		return waiting(fault), err
	}
	return contributed(r.Loss), c.send(ctx, frame)
' \
	'	private := hidden(c.follower.Plan(), r)
	sent := c.send(ctx, private.Append(nil))
	if _, fault, err := c.promise(round.a, r); fault != nil || err != nil {
		return waiting(fault), err
	}
	return contributed(r.Loss), sent
'
plant forget-folder-sync internal/disk/replace.go \
	'return fsys.SyncDir(filepath.Dir(path))' \
	'return nil'
plant rename-before-sync internal/disk/replace.go \
	'		err = file.Sync()
' \
	'		err = nil
'
plant follow-any-record client/replica/replica.go \
	'case rec.Prev != at.hash:' \
	'case rec.Prev != at.hash && rec.N == 0:'
plant record-before-vector coordinator/perform.go \
	'	if o.Object != nil {
		limited, cancel := c.limitOf(ctx, len(o.Object.Data))
' \
	'	first, done := c.limit(ctx)
	defer done()
	if err := c.cfg.Log.Append(first, o.N, o.Frame); err != nil {
		return err
	}
	if o.Object != nil {
		limited, cancel := c.limitOf(ctx, len(o.Object.Data))
' \
	'	limited, cancel := c.limit(ctx)
	defer cancel()
	return c.cfg.Log.Append(limited, o.N, o.Frame)
' \
	'	return nil
'
plant piece-taken-twice coordinator/internal/uploads/uploads.go \
	'if u.Offset == uint64(len(v.data)) {' \
	'if u.Offset <= uint64(len(v.data)) && len(u.Data) <= v.size-len(v.data) {'
plant resume-at-wrong-offset coordinator/internal/uploads/uploads.go \
	'size: int(u.Size), began: now, heard: now}' \
	'size: int(u.Size), began: now, heard: now, data: make([]byte, u.Offset)}'
plant another-vectors-pieces coordinator/internal/uploads/uploads.go \
	'if e != nil && !e.Value.(*upload).is(u) {' \
	'if e != nil && e.Value.(*upload).size != int(u.Size) {'
plant vector-counted-twice coordinator/internal/engine/upload.go \
	'	if c.hasVector(m, u) {' \
	'	if c.hasVector(m, u) && u.Offset > 0 {'
plant vector-counted-unweighted coordinator/internal/aggregate/mean.go \
	's.sum.AddScalars(k.Sent, k.Weight)' \
	's.sum.AddScalars(k.Sent, 1)
	s.sum.Weight += uint64(k.Weight) - 1'
plant keep-too-few coordinator/runlog/vectors.go \
	'v.path = v.path[max(0, len(v.path)-keep):]' \
	'v.path = v.path[max(0, len(v.path)-keep+1):]'
plant forget-left-vectors coordinator/runlog/vectors.go \
	'			v.left = append(v.left, o)
' \
	''
plant upload-before-persist client/internal/outbox/upload.go \
	'	return o.saveUpload()
' \
	'	return nil
' \
	'	return u.head.Loss, sent, nil
' \
	'	return u.head.Loss, sent, o.saveUpload()
'
plant late-counted-twice coordinator/internal/engine/late.go \
	'case past.Knows(m, c.cohort.Roster.Stored):' \
	'case past.Knows(m, c.cohort.Roster.Stored) && len(r.Values) == 0:'
plant late-forgets-who-was-on-time coordinator/internal/late/past.go \
	'	r.Counted.Copy(counted)
' \
	''
plant late-after-rollback coordinator/internal/late/work.go \
	'onPath = func(n uint64) bool { return n <= r.To }' \
	'onPath = func(n uint64) bool { return n <= r.N }'
plant late-to-adopted-record coordinator/internal/late/work.go \
	'case r.Epoch != l.Epoch || r.Kind != wire.KindRound:' \
	'case r.Kind != wire.KindRound:'
plant late-without-discount coordinator/internal/late/batch.go \
	'		gather.Scale(mean, s)
' \
	'' \
	'			g.each.Scale(s)
' \
	'			_ = s
'
plant claim-not-heard coordinator/internal/engine/claims.go \
	'case c.End != nil || c.holds(claim) || ' \
	'case c.End != nil || c.N > 0 || c.holds(claim) || '
under 'lose the tail' plant go-back-before-claim client/follow.go \
	'		return c.claim(ctx, err)
' \
	'		return next{}, err
'
under 'set a log back,stop' plant claim-by-length coordinator/internal/engine/claims.go \
	'	return claim.N < max(c.Begins, 2) || known && tip == claim.Tip
' \
	'	return claim.N < max(c.Begins, 2) || known && tip[0]|1 > 0
'
plant pause-forgotten coordinator/internal/engine/decide.go \
	'	default:
		c.emitEvent(report.Event{Kind: report.RunPaused, Reason: p.Reason})
' \
	'	default:
		c.halt.Pause = nil
'
under 'lose the tail,pause after a round' plant plan-dropped-by-claim coordinator/internal/engine/pause.go \
	'	c.halt.Pause, c.halt.shortage = p, presence.Shortage{}
' \
	'	c.halt.Pause, c.halt.Planned, c.halt.shortage = p, nil, presence.Shortage{}
'
under 'pause after a round,crash a coordinator' plant plan-forgotten coordinator/internal/engine/core.go \
	'halt{Decisions: h.Decided}' \
	'halt{Decisions: runlog.Decisions{Pause: h.Decided.Pause, Accepted: h.Decided.Accepted}}'
under 'pause,resume,crash a coordinator' plant resume-not-stored coordinator/internal/engine/pause.go \
	'	c.decide()
	if c.next.trouble != "" {
		return // told' \
	'	if c.next.trouble != "" {
		return // told'
under 'retire,crash a coordinator' plant retired-forgotten coordinator/internal/engine/core.go \
	'cohort.New(&c.Position, h.Members, h.Retired, &c.policy)' \
	'cohort.New(&c.Position, h.Members, nil, &c.policy)'
under 'retire' plant retired-stays-in coordinator/internal/engine/retire.go \
	'		c.cohort.Retire(m, c.now)
' \
	''
under 'rot a log' plant record-checksum-ignored coordinator/filelog/frame.go \
	'	if crc32.Checksum(frame[frameWord:], castagnoli) != sum {
' \
	'	if crc32.Checksum(frame[frameWord:], castagnoli) != sum && false {
'
under 'rot a log' plant lost-tail-unnoticed coordinator/filelog/seenfile.go \
	'return max(f.seen.n, f.Last()), nil' \
	'return f.Last(), nil'
under 'rot a log' plant cut-before-refusal coordinator/filelog/mend.go \
	'	if f.fixed || f.lost() {
' \
	'	if f.fixed {
'
under 'rot a log' plant roster-checksum-ignored coordinator/internal/roster/roster.go \
	'	if !bytes.Equal(sealed, text) {
' \
	'	if !bytes.Equal(sealed, text) && len(text) == 0 {
'
under 'write into a log' plant written-log-unnoticed coordinator/filelog/filelog.go \
	'		err = f.unchanged()
	}
	if err == nil {
		err = f.explain(f.log.append(appendFrame(nil, record)))
' \
	'		err = f.explain(f.log.append(appendFrame(nil, record)))
'
under 'rot a state,crash' plant state-digest-ignored client/replica/load.go \
	'got := l.r.Digest(); !bytes.Equal(got[:], part) {' \
	'got := l.r.Digest(); len(got) != len(part) {'
under 'set a log back' plant claim-taken-for-granted coordinator/internal/engine/claims.go \
	'	return c.claims.anew || c.claims.waived || ' \
	'	return c.claims.anew || c.N > 2 || c.claims.waived || '
under 'core' plant lack-of-devices-for-ever coordinator/internal/presence/shortage.go \
	'	s.RetryAt = now + min(reannounce<<min(s.Spells-1, 8), shortageMost*reannounce)
' \
	'	s.RetryAt = 1 << 62
'
under 'a write goes astray' plant astray-write-acknowledged coordinator/filelog/tailfile.go \
	'		if err = f.resized(f.mark.Size); err == nil {
' \
	'		if err = f.resized(f.mark.Size); err == nil && len(b) == 0 {
'
plant masked-sum-of-asked coordinator/internal/secagg/leader.go \
	'c.Sum(word)/float64(l.count), float64(c.Range)' \
	'c.Sum(word)/float64(len(l.round.Members)), float64(c.Range)'
plant noise-forgotten client/dpnoise.go \
	'	m.Add(values, rand.Reader)
' \
	'	if m.Clip(values); plan.DPOf != dpnoise.OfSum {
		m.Add(values, rand.Reader)
	}
'
plant share-of-too-many client/dpnoise.go \
	'm = m.Share(plan.Quorum)' \
	'm = m.Share(4096 * plan.Quorum)'
plant unmasked-twice client/masked.go \
	'return c.outbox.Unmask(a.N)' \
	'return nil'
