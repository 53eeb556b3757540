/** A complete response of the edge: it reveals neither the service nor HAProxy. */
export const emptyResponse = (status: number, headers: Record<string, string> = {}) => ({
  status,
  body: '',
  headers: {
    'content-length': '0',
    'strict-transport-security': 'max-age=31536000',
    ...headers,
  },
})
