export class Gate<T> extends Base {
  // opens
  async open(at: number): Promise<T> { return `x${at}` as T }
}
export const f = (a) => { /* } */ };
