/** Computes a value once for each object, as long as the object is referenced. */
export function memoizeByObject<K extends object, V>(compute: (of: K) => V): (of: K) => V {
  const values = new WeakMap<K, { value: V }>()
  return (of) => {
    const known = values.get(of)
    if (known !== undefined) return known.value
    const value = compute(of)
    values.set(of, { value })
    return value
  }
}
