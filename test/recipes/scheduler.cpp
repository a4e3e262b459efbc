/* scheduler.cpp - a scheduler for C++17, derived from timingwheel: jobs at a
 * fixed rate or with a fixed delay, ended from inside, that may throw.
 *     c++ -std=c++17 -Wall -Wextra scheduler.cpp -o scheduler && ./scheduler
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION // in one file, of C++: C would not unwind
#include "timingwheel.h"
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>
using namespace std::chrono;
class Scheduler : timingwheel
{
    struct Job : tw_timer {
        std::function<bool()> work; // returns false to end the job
        uint64_t period;
        bool has_rate;
    };
    static uint64_t now()
    {
        return uint64_t(steady_clock::now().time_since_epoch() / 1ns);
    }
    static void fire(timingwheel *tw, tw_timer *timer)
    {
        std::unique_ptr<Job> job(static_cast<Job *>(timer)); // also at a throw
        bool again = job->work();
        uint64_t next = tw_after(now(), job->period), last = tw_deadline(timer);
        if (job->has_rate) // keeps the phase, and skips what was missed
            next = tw_next_period(last, job->period, now(), nullptr);
        if (again && tw_start(tw, timer, next) == TW_OK)
            job.release();
    }

  public:
    Scheduler()
    {
        tw_config config{};
        config.tick = 1000000;
        config.start = now();
        tw_init(this, &config);
    }
    ~Scheduler() // the unfinished jobs are freed
    {
        auto free = [](tw_timer *t, void *) { delete static_cast<Job *>(t); };
        tw_drain(this, free, nullptr);
        tw_destroy(this);
    }
    Scheduler(const Scheduler &) = delete; // lists point into it
    void add(std::function<bool()> work, nanoseconds delay, bool has_rate)
    {
        uint64_t ns = delay > 0ns ? uint64_t(delay / 1ns) : 0;
        std::unique_ptr<Job> job(
            new Job{TW_TIMER_INIT(fire), std::move(work), ns, has_rate});
        if (tw_start_after(this, job.get(), now(), ns) != TW_OK)
            throw std::bad_alloc(); // for a wheel
        job.release();
    }
    void run() // until no job is left, or a job throws
    {
        while (tw_count(this) > 0) {
            nanoseconds wait(tw_wait(this, now(), 1000000000));
            std::this_thread::sleep_for(wait);
            tw_advance_clock(this, now());
        }
    }
};
int main()
{
    Scheduler s;
    int rate = 0, delay = 0;
    s.add([&] { return ++rate < 5; }, 20ms, true);   // at a fixed rate
    s.add([&] { return ++delay > 0; }, 30ms, false); // with a fixed delay
    s.add([]() -> bool { throw std::logic_error("thrown"); }, 200ms, false);
    try {
        s.run();
    } catch (const std::exception &error) {
        std::cout << error.what() << ": " << rate << ", " << delay << std::endl;
    }
}
