// Ведомость склада: остатки, цены и «расход».
using System;
using System.Collections.Generic;
using static System.Math;
using Bag = System.Collections.Generic.List<int>;

[assembly: CLSCompliant(true)]

namespace Store.Stock
{
    /// <summary>Reports a change.</summary>
    public delegate void Changed(string item, int left);

    /// <summary>How an item is kept.</summary>
    [Flags]
    public enum Keeping
    {
        Dry = 1,
        Cold = 2,
    }

    public interface IShelf<T> where T : class
    {
        int Count { get; }
        void Put(T item);
        T Take() => default;
    }

    /// <summary>A shelf with room for a few items.</summary>
    [Serializable]
    [Obsolete("use `Rack`")]
    public sealed class Shelf<T> : IShelf<T>, IDisposable where T : class
    {
        private readonly List<T> items = new();
        public event Changed OnChange;

        static Shelf() { }

        public Shelf(int room)
            : base()
        {
            Room = room;
        }

        ~Shelf() => Dispose();

        public int Room { get; }

        public int Count
        {
            get { return items.Count; }
        }

        public T this[int at] => items[at];

        // Beyond the room nothing is put.
        [Pure]
        public void Put(T item)
        {
            bool Fits(int count)
            {
                return count < Room;
            }
            Func<int, bool> full = count => !Fits(count);
            switch (items.Count)
            {
                case 0:
                    items.Add(item);
                    break;
                default:
                    if (full(items.Count)) { return; }
                    items.Add(item);
                    break;
            }
        }

        void IDisposable.Dispose() { }

        public static Shelf<T> operator +(Shelf<T> left, T item) { left.Put(item); return left; }

        public static explicit operator int(Shelf<T> shelf) => shelf.Count;

        private struct Mark { public int At; }

        #region Records
        public record Line(string Item, int Left);

        public readonly record struct Price(decimal Value)
        {
            public Price Half() => new(Value / 2);
        }
        #endregion
    }
}
