/** Ends HTTP/2 responses of Node's compatibility layer that it leaves open, or ends without an error. */
import { constants, Http2ServerResponse, type ServerHttp2Stream } from 'node:http2'

/**
 * Destroys the stream once its client has cancelled it without an error code. Node waits forever for its bytes to be
 * sent, even after the connection has closed. Needless from Node 26.
 */
export function destroyWhenCancelled (stream: ServerHttp2Stream): void { stream.on('end', destroyIfCancelled) }

function destroyIfCancelled (this: ServerHttp2Stream): void {
  if (this.closed && !this.writableFinished) this.destroy()
}

/**
 * Makes `destroy` of an incomplete response reset its stream with an error code. Node resets it without one, so that
 * the client takes the response for complete. No fix in Node 26.
 * @see https://github.com/nodejs/node/issues/35302
 */
export function resetWhenDestroyed (response: Http2ServerResponse): void { response.destroy = destroy }

function destroy (this: Http2ServerResponse, error?: Error): Http2ServerResponse {
  if (!this.writableFinished && !this.stream.closed) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  return Http2ServerResponse.prototype.destroy.call(this, error) as Http2ServerResponse
}
