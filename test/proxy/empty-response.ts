/** An answer of the edge's own, whole: nothing in it tells of the service or of HAProxy. */
export const emptyResponse = (status: number, headers: Record<string, string> = {}) => ({
  status,
  body: '',
  headers: {
    'content-length': '0',
    'strict-transport-security': 'max-age=31536000',
    ...headers,
  },
})
