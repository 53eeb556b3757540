/** A number with its noun: 1 pedido, 12.300 pedidos. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('pt-BR')} ${number === 1 ? noun : plural}`
}

const UNITS = ['kB', 'MB', 'GB', 'TB']

/** Bytes with a unit: 3,4 MB. */
export function size(bytes: number): string {
  if (bytes < 1_000) return count(bytes, 'byte')
  const power = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3))
  const number = (bytes / 1_000 ** power).toLocaleString('pt-BR', { maximumFractionDigits: 1 })
  return `${number} ${UNITS[power - 1]}`
}

/** Milliseconds with units: 0,8 s, 14 s, 3 min 20 s, 2 h 5 min. */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toLocaleString('pt-BR', { maximumFractionDigits: 1 })} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** A command quoted for the shell of this system. */
export function commandLine(words: readonly string[], platform = process.platform): string {
  return words.map((word) => quote(word, platform)).join(' ')
}

function quote(word: string, platform: NodeJS.Platform): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  if (platform === 'win32') return `"${word.replaceAll('"', '""')}"`
  return `'${word.replaceAll("'", `'\\''`)}'`
}
