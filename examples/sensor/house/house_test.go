package house

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

func live(seed uint64, days int) (Room, Trace) {
	random := rand.New(rand.NewPCG(seed, 1))
	room := NewRoom(random)
	return room, room.Live(NewWeather(days, rand.New(rand.NewPCG(seed, 0))), random)
}

func TestSeedsRepeat(t *testing.T) {
	_, a := live(1, 3)
	_, b := live(1, 3)
	_, c := live(2, 3)
	if !reflect.DeepEqual(a, b) || reflect.DeepEqual(a.Air, c.Air) {
		t.Error("the same seed gives two different rooms")
	}
}

// Rooms stay warm, and cool down while a window is open for long.
func TestRoomsAreLivedIn(t *testing.T) {
	cold, opened := 0, 0
	for seed := range uint64(20) {
		room, trace := live(seed, 21)
		for _, v := range trace.Air[minutesPerDay:] {
			if v < room.Night-8 || v > room.Day+8 {
				t.Fatalf("seed %d: %v degrees", seed, v)
			}
		}
		for _, o := range trace.Opened {
			if o[1] < len(trace.Air) && o[1]-o[0] >= 20 {
				if opened++; trace.Air[o[1]-1] < trace.Air[o[0]]-0.8 {
					cold++
				}
			}
		}
	}
	if opened < 100 || 10*cold < 8*opened {
		t.Errorf("%d of %d windows cool the room, want 8 of 10", cold, opened)
	}
}
