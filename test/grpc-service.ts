/** Services over gRPC for tests, at sockets. */
import { ServerCredentials, status, type Server } from '@grpc/grpc-js'
import type protobuf from 'protobufjs'

/** By method; what they return is encoded by its message. */
export type Answers<R> = Readonly<Record<string, (request: R) => Promise<object>>>

export interface Service {
  /** With its package. */
  readonly service: string
  /** Has `METHODRequest` and `METHODResponse` for each method, or what `named` says. */
  readonly types: protobuf.Root
  readonly named?: (method: string) => readonly [request: string, response: string]
  readonly called?: (method: string) => void
}

/** An error with a numeric `code` is gRPC's, another one UNKNOWN. */
export function addService<R> (
  server: Server,
  { service, types, called = () => {}, named = method => [`${method}Request`, `${method}Response`] }: Service,
  answers: Answers<R>
): void {
  const [pack = ''] = service.split('.')
  const definition = Object.fromEntries(Object.keys(answers).map(name => {
    const [request, response] = named(name).map(type =>
      types.lookupType(`${pack}.${type}`)) as [protobuf.Type, protobuf.Type]
    return [name, {
      path: `/${service}/${name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: object) => Buffer.from(request.encode(request.create(value)).finish()),
      requestDeserialize: (bytes: Buffer) => request.toObject(request.decode(bytes), { defaults: true, bytes: Buffer }),
      responseSerialize: (value: object) => Buffer.from(response.encode(response.create(value)).finish()),
      responseDeserialize: (bytes: Buffer) => response.decode(bytes)
    }]
  }))
  server.addService(definition as never, Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, (
    call: { request: R }, done: (error: object | null, value?: object) => void
  ) => {
    called(name)
    answer(call.request).then(
      value => { done(null, value) },
      (error: unknown) => {
        done(
          error instanceof Error && 'code' in error && typeof error.code === 'number'
            ? error
            : { code: status.UNKNOWN, details: 'no such key' }
        )
      }
    )
  }])))
}

export const serveAt = (server: Server, path: string): Promise<void> => new Promise((resolve, reject) => {
  server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), error => {
    if (error === null) resolve(); else reject(error)
  })
})
