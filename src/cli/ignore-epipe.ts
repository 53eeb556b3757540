/** Whoever reads the output may stop early (`… | head`): that must not stop the work. */
export function ignoreEpipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}
