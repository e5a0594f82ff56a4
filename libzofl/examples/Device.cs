// A device in C#, by P/Invoke: its loss is a bowl whose lowest point is (1, 1.1, 1.2, ...).
//
//     libzofl/build.sh _lib
//     mcs Device.cs
//     LD_LIBRARY_PATH=_lib mono Device.exe nats://127.0.0.1:4222 kitchen net-1 5 [STORE]
//
// With the .NET SDK it is the only file of a console project; libzofl.so lies beside the program.
using System;
using System.Runtime.InteropServices;
using System.Text;

static class Zofl
{
    public const int Wait = 0, Evaluate = 4, Paused = 5, Ended = 6;
    public const int F32 = 0;

    // Pointers, because marshalled strings would be freed by the garbage collector's rules: a
    // config lives for one call.
    [StructLayout(LayoutKind.Sequential)]
    public struct Config
    {
        public UIntPtr StructSize;
        public IntPtr Url, Creds, Ca, Enroll, Coordinator, Run, Id, Store, Program;
        public IntPtr Secret;
        public UIntPtr SecretSize;
        public IntPtr Initial;
        public ulong Dim, MemoryLimit;
        public uint Weight, MaxBatch, Workers;
        public byte Passive, Plaintext, HeldOut;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Task
    {
        public UIntPtr StructSize;
        public ulong Size, Record, Seed;
        public long LeftMs;
        public uint Batch, Step, Point, Points, Metrics;
        public byte HeldOut;
    }

    const string library = "libzofl.so";
    [DllImport(library)] public static extern int zofl_open(ref Config config);
    [DllImport(library)] public static extern int zofl_poll(int device, int timeout, ref Task task);
    [DllImport(library)] public static extern int zofl_point(
        int device, int type, [Out] float[] dst, ulong off, ulong n);
    [DllImport(library)] public static extern int zofl_loss(int device, double loss);
    [DllImport(library)] public static extern int zofl_digest(int device, [Out] byte[] digest);
    [DllImport(library)] public static extern ulong zofl_records(int device);
    [DllImport(library)] public static extern int zofl_close(int device);
    [DllImport(library)] public static extern IntPtr zofl_error(int code);
    [DllImport(library)] public static extern UIntPtr zofl_explain(
        int device, [Out] byte[] text, UIntPtr room);
}

static class Device
{
    // Loss is yours: run the engine with weights x, and return how badly it did.
    static double Loss(float[] x)
    {
        double sum = 0;
        for (int i = 0; i < x.Length; i++)
        {
            double e = x[i] - (1 + 0.1 * i);
            sum += e * e;
        }
        return sum;
    }

    static int Check(int code, int device)
    {
        if (code >= 0) return code;
        var why = new byte[1024];
        Zofl.zofl_explain(device, why, (UIntPtr)why.Length);
        string text = Encoding.UTF8.GetString(why).Split('\0')[0];
        throw new Exception(Marshal.PtrToStringAnsi(Zofl.zofl_error(code)) + ": " + text);
    }

    static int Open(string url, string run, string id, ulong dim, string store)
    {
        var config = new Zofl.Config
        {
            StructSize = (UIntPtr)Marshal.SizeOf(typeof(Zofl.Config)), Dim = dim,
            Url = Marshal.StringToHGlobalAnsi(url), Run = Marshal.StringToHGlobalAnsi(run),
            Id = Marshal.StringToHGlobalAnsi(id), Store = Marshal.StringToHGlobalAnsi(store),
        };
        try
        {
            return Check(Zofl.zofl_open(ref config), 0);
        }
        finally
        {
            foreach (var p in new[] { config.Url, config.Run, config.Id, config.Store })
                Marshal.FreeHGlobal(p);
        }
    }

    static void Main(string[] args)
    {
        ulong dim = ulong.Parse(args[3]);
        int device = Open(args[0], args[1], args[2], dim, args.Length > 4 ? args[4] : null);
        var task = new Zofl.Task { StructSize = (UIntPtr)Marshal.SizeOf(typeof(Zofl.Task)) };
        var x = new float[dim];
        long losses = 0;
        for (int next = Zofl.Wait; next != Zofl.Ended;)
        {
            next = Check(Zofl.zofl_poll(device, 1000, ref task), device);
            // A negative answer to the other two: the round was over meanwhile.
            if (next == Zofl.Evaluate && Zofl.zofl_point(device, Zofl.F32, x, 0, task.Size) == 0 &&
                Zofl.zofl_loss(device, Loss(x)) == 0)
                losses++;
        }
        var digest = new byte[32];
        Check(Zofl.zofl_digest(device, digest), device);
        Console.WriteLine("losses {0} record {1} digest {2}", losses, Zofl.zofl_records(device),
            BitConverter.ToString(digest).Replace("-", "").ToLower());
        Zofl.zofl_close(device);
    }
}
