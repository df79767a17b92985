/* The end of `engine.js`: a worker that has Python and waits, the same one until it is stopped. */
(() => {
  const LIMIT = 5000; // milliseconds that a reader's code may take
  let starting, worker;

  const start = async () => {
    worker = new Worker(URL.createObjectURL(new Blob([window.play.worker], { type: "text/javascript" })));
    await new Promise((done) => (worker.onmessage = done));
  };

  /* Run code: the verdict, and what was said. What takes too long is stopped, with its worker. */
  window.play.run = async (message) => {
    await (starting ??= start());
    return new Promise((done) => {
      const end = (verdict, text) => {
        clearTimeout(clock);
        window.play.stop = () => {};
        done([verdict, text]);
      };
      window.play.stop = (why = "Stopped.") => {
        worker.terminate();
        starting = undefined;
        end("stopped", why);
      };
      const clock = setTimeout(() => window.play.stop("Stopped after 5 seconds: does a loop never end?"), LIMIT);
      worker.onmessage = ({ data }) => end(data.slice(0, data.indexOf("\n")), data.slice(data.indexOf("\n") + 1));
      worker.postMessage(message);
    });
  };
  window.play.stop = () => {};
})();
